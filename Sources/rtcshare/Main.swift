/// Where the program begins.
@main
enum Main {
    static func main() async { await RTCShareCommand.main() }
}
