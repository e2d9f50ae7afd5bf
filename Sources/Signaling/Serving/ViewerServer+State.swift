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

    /// What of the room decides what pages are told.
    private struct Facts {
        let destination: ShareDestination
        let isSharing: Bool
        /// Whether the source of the content gives no picture.
        let isContentMuted: Bool
        let hasOwnPicture: Bool
        let isOwnPictureMuted: Bool
        let hasSound: Bool
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
            let facts = await facts()
            for session in sessions.values { tell(session, state(for: session, facts)) }
        }
        telling.isUnderWay = false
    }

    private func facts() async -> Facts {
        let content = await room.contentShare.videoTrack
        let own = await room.localVideoTrack
        let contentSound = await room.contentShare.audioTrack
        let voice = await room.localAudioTrack
        return Facts(
            destination: await room.destination, isSharing: await room.contentShare.isSharing,
            isContentMuted: content?.isMuted ?? false, hasOwnPicture: own != nil,
            isOwnPictureMuted: own?.isMuted ?? false, hasSound: contentSound != nil || voice != nil)
    }

    private func state(for session: ViewerSession, _ facts: Facts) -> ShareState {
        let isWaiting = session.isWaiting
        let isStill = isPaused || facts.isContentMuted
        var state = ShareState(
            state: isWaiting ? .waiting : isStill ? .paused : .live, name: room.owner.name)
        state.viewers = sessions.values.count { $0.state == .connected && !$0.isWaiting }
        state.sound = facts.hasSound
        if let content = try? room.owner.content.rawValue, configuration.media.contains(.content) {
            let isOn = facts.isSharing && session.viewer.membership.includes(facts.destination)
            state.tiles.append(ShareState.Tile(stream: content, state: isOn ? (isStill ? .paused : .live) : .off))
        }
        if configuration.media.contains(.camera) {
            let isOn = facts.hasOwnPicture && !isWaiting
            state.tiles.append(
                ShareState.Tile(
                    stream: room.owner.rawValue,
                    state: isOn ? (facts.isOwnPictureMuted ? .paused : .live) : .off))
        }
        return state
    }

    func tell(_ session: ViewerSession, as phase: ShareState.Phase) {
        tell(session, ShareState(state: phase, name: room.owner.name))
    }

    private func tell(_ session: ViewerSession, _ state: ShareState) {
        guard !session.listeners.isEmpty, state != session.toldLast else { return }
        session.toldLast = state
        let message = state.message
        for listener in session.listeners.values { listener.yield(message) }
    }

    // MARK: Listeners

    /// Adds one who is told how the share stands, from now on.
    func listen(to session: ViewerSession) -> AsyncStream<[UInt8]> {
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
        continuation.onTermination = { [weak self, key = session.key] _ in
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
