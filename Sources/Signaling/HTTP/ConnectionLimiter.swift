internal import NIOCore
internal import RTCShareLocks

/// Admits connections up to a limit, and closes an idle one for a new one.
final class ConnectionLimiter: Sendable {
    struct Full: Error {}

    private struct State {
        var roster: ConnectionRoster<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// The channels that belong to a peer connection, which says goodbye on them and closes them.
        var lent: Set<ObjectIdentifier> = []
        var isClosed = false
    }

    private let state: Locked<State>

    init(limits: HTTPServer.Limits) {
        state = Locked(
            State(
                roster: ConnectionRoster(
                    limit: limits.connections, strangersPerNetwork: limits.strangersPerNetwork)))
    }

    func admit(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let client = channel.remoteAddress?.unmappedIP
        let (isLetIn, spared) = state.withLock { state -> (Bool, (any Channel)?) in
            guard !state.isClosed, case .admitted(let spared) = state.roster.enter(id, from: client) else {
                return (false, nil)
            }
            state.channels[id] = channel
            return (true, spared.flatMap { state.channels.removeValue(forKey: $0) })
        }
        spared?.close(promise: nil)
        guard isLetIn else { return false }
        leaveWithClose(channel)
        return true
    }

    private func leaveWithClose(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.roster.leave(id)
                state.channels[id] = nil
                state.lent.remove(id)
            }
        }
    }

    /// Counts a connection under its new channel, which belongs to a peer connection. One that was to be closed meanwhile
    /// is closed.
    func replace(_ former: any Channel, by new: any Channel) {
        let (old, id) = (ObjectIdentifier(former), ObjectIdentifier(new))
        let isCounted = state.withLock { state in
            guard !state.isClosed, state.roster.rename(old, to: id) else { return false }
            state.channels[old] = nil
            state.channels[id] = new
            state.lent.insert(id)
            return true
        }
        guard isCounted else { return new.close(promise: nil) }
        leaveWithClose(new)
    }

    /// Updates the record of a connection.
    func update(_ channel: any Channel, _ change: (inout ConnectionRoster<ObjectIdentifier>, ObjectIdentifier) -> Void)
    {
        state.withLock { change(&$0.roster, ObjectIdentifier(channel)) }
    }

    /// Rejects new connections, and returns the open ones that belong to the server.
    func close() -> [any Channel] {
        state.withLock { state in
            state.isClosed = true
            return state.channels.filter { !state.lent.contains($0.key) }.map(\.value)
        }
    }
}
