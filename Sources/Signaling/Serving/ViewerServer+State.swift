internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// How the share stands, for viewers' pages.
extension ViewerServer {
    /// Pages are told by one task at a time, so that none is told what was before after what is now.
    struct Telling {
        var isDue = false
        var isUnderWay = false
    }

    /// How often those who listen hear that the server is there.
    private static let heartbeatInterval = Duration.seconds(10)

    /// Tells viewers' pages how the share stands now: for programs that changed where it goes, or what of.
    public func refresh() {
        telling.isDue = true
        guard !telling.isUnderWay, sessions.values.contains(where: { !$0.listeners.isEmpty }) else { return }
        telling.isUnderWay = true
        Task { await tellWhileDue() }
    }

    private func tellWhileDue() async {
        while telling.isDue {
            telling.isDue = false
            var (facts, destination) = await room.facts(of: configuration.media)
            facts.isPaused = isPaused
            facts.viewers = sessions.values.count { $0.state == .connected && !$0.isWaiting }
            var messages: [ShareState.View: [UInt8]] = [:]
            for session in sessions.values where !session.listeners.isEmpty {
                let membership = session.viewer.membership
                let view: ShareState.View =
                    session.isWaiting ? .waiting : membership.includes(destination) ? .sees : .seesNot
                let message = messages[view] ?? ShareState(facts, for: view).message
                messages[view] = message
                tell(session, message)
            }
        }
        telling.isUnderWay = false
    }

    func tell(_ session: ViewerSession, as phase: ShareState.Phase) {
        tell(session, ShareState(state: phase, name: room.owner.name).message)
    }

    private func tell(_ session: ViewerSession, _ message: [UInt8]) {
        guard message != session.toldLast else { return }
        session.toldLast = message
        for listener in session.listeners.values { listener.yield(message) }
    }

    // MARK: Listeners

    /// What a session's page is told from now on.
    func listen(to key: String) throws(ProblemDetails) -> AsyncStream<[UInt8]> {
        let session = try session(key)
        // Each message has the whole state: of a slow reader's messages only the newest count.
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(8))
        session.listenersSoFar += 1
        let id = session.listenersSoFar
        // A page listens once; of more than it has need for the oldest goes.
        if session.listeners.count >= 2, let oldest = session.listeners.keys.min() {
            session.listeners.removeValue(forKey: oldest)?.finish()
        }
        session.listeners[id] = continuation
        session.toldLast = nil
        continuation.onTermination = { [weak self] _ in
            Task { await self?.removeListener(id, of: key) }
        }
        refresh()
        beatWhileHeard()
        return stream
    }

    /// How many are told how the share stands.
    var listenerCount: Int { sessions.values.reduce(0) { $0 + $1.listeners.count } }

    private func removeListener(_ id: Int, of key: String) { sessions[key]?.listeners[id] = nil }

    func finishListeners(of session: ViewerSession) {
        for listener in session.listeners.values { listener.finish() }
        session.listeners = [:]
    }

    private func beatWhileHeard() {
        guard heartbeat == nil else { return }
        heartbeat = Task { [weak self] in
            while let goesOn = await self?.beat(), goesOn {
                guard (try? await Task.sleep(for: Self.heartbeatInterval)) != nil else { return }
            }
        }
    }

    private func beat() -> Bool {
        let listeners = sessions.values.flatMap(\.listeners.values)
        guard !listeners.isEmpty, !hasEnded else {
            heartbeat = nil
            return false
        }
        for listener in listeners { listener.yield(ShareState.heartbeat) }
        // What changed without a call here, such as a viewer's place in the room, is told now.
        refresh()
        return true
    }
}

extension SharingRoom {
    /// What of the room decides what pages are told, and where the share goes.
    fileprivate func facts(of media: Set<SharedMedia>) async -> (ShareState.Facts, ShareDestination) {
        let (content, hasSound) = contentShare.tracks
        var facts = ShareState.Facts(name: owner.name, sound: hasSound || localAudioTrack != nil)
        if media.contains(.content), let stream = try? owner.content.rawValue {
            facts.content = ShareState.Tile(stream: stream, state: .init(of: content))
        }
        if media.contains(.camera) {
            facts.own = ShareState.Tile(stream: owner.rawValue, state: .init(of: localVideoTrack))
        }
        return (facts, destination)
    }
}

extension ContentShareController {
    fileprivate var tracks: (picture: VideoTrack?, hasSound: Bool) { (isSharing ? videoTrack : nil, audioTrack != nil) }
}

extension ShareState.Tile.State {
    fileprivate init(of track: VideoTrack?) {
        self = track.map { $0.isMuted ? .paused : .live } ?? .off
    }
}
