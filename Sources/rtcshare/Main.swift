/// Where the program begins.
@main
enum Main {
    static func main() async {
        StandardStreams.replaceClosed()
        OpenFiles.raiseLimit()
        await RTCShareCommand.main()
    }
}
