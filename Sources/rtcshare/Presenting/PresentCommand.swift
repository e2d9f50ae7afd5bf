internal import ArgumentParser
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks

/// `rtcshare present`: the page that starts and controls a share.
struct PresentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "present", abstract: "Start and control a share on a page in your browser.",
        discussion: """
            You choose on the page what to share. If a share is running already, the page controls it. Only you can open the page,
            on this machine. Closing the page does not stop the share.

                rtcshare present

            While you share, notifications of your desktop admit viewers and pause the share, and the machine does not sleep while
            somebody watches. The command ends with the session of the desktop.

            Without a desktop, this prints the link of the page. The command ends when nothing has been shared and no page has
            been open for a minute.
            """)

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            while true {
                if let running = await runningShare() {
                    return try await Self.show(try await running.connect().ask(.openPage, ControlPage.self).url)
                }
                // This tries the sockets of other shares.
                let listening = try await WorkerThread.run(named: "control socket") { () throws(CommandFailure) in
                    try ControlSocket.listen(name: ControlSocket.defaultName)
                }
                // Another share was quicker.
                guard listening.notice == nil else {
                    close(listening.descriptor)
                    listening.socket.remove()
                    continue
                }
                return try await Presenter(interruption: Interruption()).run(at: listening) { link in
                    try await Self.show(link)
                    if Terminal.shared.isTerminal { Terminal.shared.say("Press Ctrl-C to stop.") }
                }
            }
        }
    }

    /// Opens the page, and prints its link unless a browser has surely opened it.
    private static func show(_ link: String) async throws {
        let isOpen = await Browser.open(link)
        guard isOpen != true else { return }
        guard !StandardStreams.areKept else {
            guard isOpen == false else { return }
            throw CommandFailure(.unavailable, "no browser could be opened", try: "rtcshare present in a terminal")
        }
        try StandardStreams.writeLines([link])
    }

    /// Returns the named share, which runs. Without a name, the one with the default name, or the first; nil if there is
    /// none.
    private func runningShare() async -> ControlOptions? {
        guard share.name == nil, share.control == nil else { return share }
        let running = await ControlOptions.sharing(among: ControlSocket.running()).map(\.name)
        guard let first = running.first else { return nil }
        var share = share
        share.name = running.contains(ControlSocket.defaultName) ? ControlSocket.defaultName : first
        return share
    }
}
