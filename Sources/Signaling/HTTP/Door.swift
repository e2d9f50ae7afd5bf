internal import NIOCore
internal import RTCShareLocks

/// Lets connections in, knows them, and closes one for another.
final class Door: Sendable {
    struct Full: Error {}

    private struct State {
        var roster: ConnectionRoster<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isShut = false
    }

    private let state: Locked<State>

    init(limits: HTTPServer.Limits) {
        state = Locked(
            State(
                roster: ConnectionRoster(
                    limit: limits.connections, strangersPerNetwork: limits.strangersPerNetwork)))
    }

    func enter(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let client = channel.remoteAddress?.unmappedIP
        let (isLetIn, spared) = state.withLock { state -> (Bool, (any Channel)?) in
            guard !state.isShut, case .admitted(let spared) = state.roster.enter(id, from: client) else {
                return (false, nil)
            }
            state.channels[id] = channel
            return (true, spared.flatMap { state.channels.removeValue(forKey: $0) })
        }
        spared?.close(promise: nil)
        guard isLetIn else { return false }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.roster.leave(id)
                state.channels[id] = nil
            }
        }
        return true
    }

    /// Takes note of what a connection does.
    func note(_ channel: any Channel, _ change: (inout ConnectionRoster<ObjectIdentifier>, ObjectIdentifier) -> Void) {
        state.withLock { change(&$0.roster, ObjectIdentifier(channel)) }
    }

    /// Lets nobody in any more; returns those who are there.
    func shut() -> [any Channel] {
        state.withLock { state in
            state.isShut = true
            return Array(state.channels.values)
        }
    }
}
