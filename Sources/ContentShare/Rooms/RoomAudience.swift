internal import RTCShareTransport

/// The memberships of a room's viewers and the destination of its share, which together determine the media of each
/// viewer.
///
/// The room changes them. Shares read them each time that they need an answer, and keep no copies.
@SharingActor final class RoomAudience {
    /// The part of the room to which the content is shared.
    var destination = ShareDestination.main
    /// The memberships, by the identity of the viewers' connections.
    private var memberships: [ObjectIdentifier: RoomMembership] = [:]

    nonisolated init() {}

    /// The subgroup to which the content is shared. Nil for the main room.
    var subgroup: Subgroup? {
        if case .subgroup(let subgroup) = destination { subgroup } else { nil }
    }

    /// The membership of the viewer at a connection. Nil if the viewer is not in the room.
    subscript(_ connection: Connection) -> RoomMembership? {
        get { memberships[ObjectIdentifier(connection)] }
        set { memberships[ObjectIdentifier(connection)] = newValue }
    }

    /// Returns whether the viewer at a connection is sent a medium (W3C `RTCRtpEncodingParameters.active`). Nil if the
    /// viewer is not in the room.
    func isActive(_ medium: SharedMedia, on connection: Connection) -> Bool? {
        self[connection].map { medium.goes(to: $0, destination: destination) }
    }

    /// Returns the connections of the viewers that are sent a medium.
    func connections(sent medium: SharedMedia) -> Set<ObjectIdentifier> {
        Set(memberships.filter { medium.goes(to: $0.value, destination: destination) }.keys)
    }
}

extension SharedMedia {
    /// Returns whether a viewer is sent this medium. Content is sent to the share's destination. Camera and microphone
    /// are sent to all admitted viewers.
    fileprivate func goes(to membership: RoomMembership, destination: ShareDestination) -> Bool {
        switch self {
        case .content, .contentAudio: membership.includes(destination)
        case .camera, .microphone: !membership.isWaiting
        }
    }
}
