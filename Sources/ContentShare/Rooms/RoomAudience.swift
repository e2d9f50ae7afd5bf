internal import RTCShareLocks
internal import RTCShareTransport

/// Where the viewers of a room are, and where its share goes: the one place that says which viewer is sent what.
///
/// The room changes it. The room's shares read it, each time that they need an answer, and keep none.
final class RoomAudience: Sendable {
    private struct State {
        var destination = ShareDestination.main
        /// By the viewers' connections.
        var memberships: [ObjectIdentifier: RoomMembership] = [:]
    }

    private let state = Locked(State())

    /// Where the share goes.
    var destination: ShareDestination {
        get { state.withLock { $0.destination } }
        set { state.withLock { $0.destination = newValue } }
    }

    /// The subgroup that the share goes to. Nil for the main room.
    var subgroup: Subgroup? {
        if case .subgroup(let subgroup) = destination { subgroup } else { nil }
    }

    /// Where the viewer at a connection is. Nil if the viewer is not in the room.
    subscript(_ connection: Connection) -> RoomMembership? {
        get { state.withLock { $0.memberships[ObjectIdentifier(connection)] } }
        set { state.withLock { $0.memberships[ObjectIdentifier(connection)] = newValue } }
    }

    /// Whether the viewer at a connection is sent a medium (W3C `RTCRtpEncodingParameters.active`). Nil if the viewer is not in
    /// the room.
    func isActive(_ medium: SharedMedia, on connection: Connection) -> Bool? {
        state.withLock { state in
            state.memberships[ObjectIdentifier(connection)].map { medium.goes(to: $0, destination: state.destination) }
        }
    }

    /// The connections of the viewers that are sent a medium.
    func connections(sent medium: SharedMedia) -> Set<ObjectIdentifier> {
        state.withLock { state in
            Set(state.memberships.filter { medium.goes(to: $0.value, destination: state.destination) }.keys)
        }
    }
}

extension SharedMedia {
    /// The content goes to the share's destination, the owner's camera and microphone to all who are admitted.
    fileprivate func goes(to membership: RoomMembership, destination: ShareDestination) -> Bool {
        switch self {
        case .content, .contentAudio: membership.includes(destination)
        case .camera, .microphone: !membership.isWaiting
        }
    }
}
