internal import FoundationEssentials
internal import RTCShareCProcess
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareSignaling

/// The person's browser.
enum Browser {
    private static let patience = Duration.seconds(2)

    /// Opens a link in the desktop's browser. Returns false if there is no desktop, or if it has no browser; nil if that is
    /// not known yet: some programs open a browser and wait for its end.
    static func open(
        _ link: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async -> Bool? {
        // Without a desktop, xdg-open starts a browser of the terminal, which can't show the page.
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false }) else {
            return false
        }
        let status = Locked<Int32?>(nil)
        await withTimeLimit(patience) {
            let result = await WorkerThread.run(named: "browser") { process_run("xdg-open", link) }
            status.withLock { $0 = result }
        }
        return status.withLock { $0 }.map { $0 == 0 }
    }
}
