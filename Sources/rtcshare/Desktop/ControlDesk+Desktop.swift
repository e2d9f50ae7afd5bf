internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks

/// The desktop as a client of the desk.
extension ControlDesk {
    /// Makes the desktop take part in the share, if this process belongs to one.
    func joinDesktop() async {
        guard desktop == nil, let address = SessionBus.address(in: ProcessInfo.processInfo.environment),
            let desktop = DesktopParticipation(at: address)
        else { return }
        self.desktop = desktop
        Task { [weak self] in
            for await event in desktop.events {
                switch event {
                // A request can wait for a dialog, and the next one does not wait for that.
                case .request(let request): Task { await self?.perform(request) }
                case .sessionEnded:
                    self?.sessionDidEnd()
                    return
                }
            }
        }
        await shareDidChange()
    }

    /// Shows the desktop the state of the share.
    func shareDidChange() async {
        guard let desktop, let share, case .status(let state) = await share.answer(.status) else { return }
        // The share may have ended meanwhile.
        if share === self.share { desktop.show(state) }
    }

    /// Does what the presenter chose, in the state of the share.
    private func perform(_ choice: DesktopRequest) async {
        // The page keeps how it pauses.
        let kept = await WorkerThread.run(named: "choices") { ShareStart(storedAt: ShareStart.path) }
        guard case .status(let state)? = await share?.answer(.status),
            let request = choice.request(in: state, hidesVideo: kept.hidesVideo == true)
        else { return }
        switch await answer(request) {
        case .page(let url):
            if await Browser.open(url) == false {
                share?.tell(["No browser could be opened.", "Run: rtcshare present"])
            }
        case .failed(_, let reason, _, let remedy):
            share?.tell(["The desktop's request failed: \(reason)."] + (remedy.map { ["Try: \($0)"] } ?? []))
        default: await stateDidChange()
        }
    }
}
