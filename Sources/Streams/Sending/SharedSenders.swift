internal import RTCShareLocks
internal import RTCShareRTP
internal import RTCShareTransport

/// The current track and senders of a stream, as its owner set them. Any thread can read them. Urgent changes are
/// posted to the connections from the owner's thread, not through the stream's event loop.
final class SharedSenders<Sender: RTPSender, Track: AnyObject & Sendable>: Sendable {
    private struct State {
        var track: Track?
        /// The senders by their connections.
        var senders: [ObjectIdentifier: Sender] = [:]
        /// The codecs of video in order of preference; empty for all in the order of each connection.
        var codecPreferences: [any VideoPayloadFormat] = []
        var isStopped = false
    }

    private let state = Locked(State())

    var track: Track? { state.withLock { $0.track } }

    var codecPreferences: [any VideoPayloadFormat] { state.withLock { $0.codecPreferences } }

    /// Sets the codecs in the next description of each connection.
    func setCodecPreferences(_ formats: [any VideoPayloadFormat]) {
        let senders = state.withLock { state in
            state.codecPreferences = formats
            return Array(state.senders.values)
        }
        for sender in senders { sender.setCodecPreferences(formats) }
    }

    func sender(on connection: Connection) -> Sender? { state.withLock { $0.senders[ObjectIdentifier(connection)] } }

    /// Returns whether it has this sender, whose connection may have ended since it was added.
    func contains(_ sender: Sender) -> Bool { self.sender(on: sender.connection) === sender }

    /// Replaces the track, and makes the next description of each connection reflect whether there is one. Returns
    /// false if stopped.
    func replaceTrack(with track: Track?) -> Bool {
        let (senders, _) = state.withLock { state -> ([Sender]?, Track?) in
            guard !state.isStopped else { return (nil, nil) }
            defer { state.track = track }
            // A track without other references is released after the lock was.
            return (Array(state.senders.values), state.track)
        }
        guard let senders else { return false }
        for sender in senders { sender.setSending(track != nil) }
        return true
    }

    /// Adds a sender, on its connection's event loop. Returns false if stopped.
    func add(_ sender: Sender, isActive: Bool, on connection: isolated Connection) -> Bool {
        let isSending = state.withLock { state -> Bool? in
            guard !state.isStopped else { return nil }
            state.senders[ObjectIdentifier(sender.connection)] = sender
            return state.track != nil
        }
        guard let isSending else { return false }
        // The next descriptions have a section for it.
        sender.begin(isSending: isSending, isHeldBack: !isActive, on: connection)
        return true
    }

    /// Removes the sender on a connection, and returns it.
    func remove(_ connection: Connection) -> Sender? {
        state.withLock { $0.senders.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Removes a sender whose connection has ended, unless another one has replaced it.
    func connectionEnded(of sender: Sender) {
        let id = ObjectIdentifier(sender.connection)
        state.withLock { if $0.senders[id] === sender { $0.senders[id] = nil } }
    }

    /// Removes the track. No track and no sender is accepted after this.
    func stop() {
        let track = state.withLock { state in
            state.isStopped = true
            return state.track.take()
        }
        withExtendedLifetime(track) {}
    }
}
