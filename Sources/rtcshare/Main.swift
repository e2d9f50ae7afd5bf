/// Where the program begins.
@main
enum Main {
    static func main() async {
        OpenFiles.raiseLimit()
        await RTCShareCommand.main()
    }
}
