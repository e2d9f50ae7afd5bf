internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// The state of the share for viewers' pages.
extension ViewerServer {
    /// The interval at which pages are notified that the server runs.
    private static let heartbeatInterval = Duration.seconds(10)

    /// Sends the current state of the share to viewers' pages. Changes that are made together are sent together.
    /// Otherwise a thousand viewers who join would cause a million messages.
    func updatePages() {
        guard !isUpdatingPages, !hasEnded else { return }
        isUpdatingPages = true
        SharingActor.post { [weak self] in self?.sendToPages() }
    }

    private func sendToPages() {
        isUpdatingPages = false
        guard !hasEnded else { return }
        let sessions = sessions.values.filter { !$0.pages.isEmpty }
        guard !sessions.isEmpty else { return }
        let facts = facts
        var messages: [ShareState.View: [UInt8]] = [:]
        for session in sessions {
            let view = session.view
            let message = messages[view] ?? ShareState(facts, for: view).message
            messages[view] = message
            session.send(message)
        }
    }

    /// The facts that determine the state for each page.
    private var facts: ShareState.Facts {
        let share = room.contentShare
        var facts = ShareState.Facts(name: room.owner.name, isPaused: isPaused)
        facts.viewers = sessions.values.count { $0.state == .connected && !$0.isWaiting }
        facts.contentSound = share.audioTrack != nil
        facts.ownSound = room.microphoneTrack != nil
        if configuration.media.contains(.content), let stream = try? room.owner.content.rawValue {
            facts.content = ShareState.Tile(
                stream: stream, state: .init(of: share.isSharing ? share.videoTrack : nil))
        }
        if configuration.media.contains(.camera) {
            facts.own = ShareState.Tile(stream: room.owner.rawValue, state: .init(of: room.cameraTrack))
        }
        return facts
    }

    func tell(_ session: ViewerSession, as phase: ShareState.Phase) {
        session.send(ShareState(state: phase, name: room.owner.name).message)
    }

    // MARK: Pages

    /// Opens the stream of messages to a session's page.
    func openPage(of key: String) throws(ProblemDetails) -> AsyncStream<[UInt8]> {
        let session = try session(key)
        // Each message has the whole state, so a slow reader only needs the newest messages.
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(8))
        session.pagesSoFar += 1
        let id = session.pagesSoFar
        // A viewer has one page. A second one is open for a short time while the page is reloaded.
        if session.pages.count >= 2, let oldest = session.pages.keys.min() {
            session.pages.removeValue(forKey: oldest)?.continuation.finish()
        }
        session.pages[id] = PageStream(continuation)
        if hasEnded {
            tell(session, as: .ended)
            session.finishPages()
            return stream
        }
        continuation.onTermination = { [weak session] _ in SharingActor.post { session?.pages[id] = nil } }
        updatePages()
        beatWhileHeard()
        return stream
    }

    private func beatWhileHeard() {
        guard heartbeat == nil else { return }
        heartbeat = Task { [weak self] in
            while self?.beat() == true {
                guard (try? await Task.sleep(for: Self.heartbeatInterval)) != nil else { return }
            }
        }
    }

    private func beat() -> Bool {
        let pages = sessions.values.flatMap(\.pages.values)
        guard !pages.isEmpty, !hasEnded else {
            heartbeat = nil
            return false
        }
        for page in pages { page.continuation.yield(ShareState.heartbeat) }
        return true
    }
}

extension ShareState.Tile.State {
    fileprivate init(of track: VideoTrack?) {
        self = track.map { $0.isMuted ? .paused : .live } ?? .off
    }
}
