internal import RTCShareTransport

/// Where the viewers of a room are, and where its share goes: the one place that says which viewer is sent what.
///
/// The room changes it. The room's shares read it, each time that they need an answer, and keep none.
@SharingActor final class RoomAudience {
    /// Where the share goes.
    var destination = ShareDestination.main
    /// By the viewers' connections.
    private var memberships: [ObjectIdentifier: RoomMembership] = [:]

    nonisolated init() {}

    /// The subgroup that the share goes to. Nil for the main room.
    var subgroup: Subgroup? {
        if case .subgroup(let subgroup) = destination { subgroup } else { nil }
    }

    /// Where the viewer at a connection is. Nil if the viewer is not in the room.
    subscript(_ connection: Connection) -> RoomMembership? {
        get { memberships[ObjectIdentifier(connection)] }
        set { memberships[ObjectIdentifier(connection)] = newValue }
    }

    /// Whether the viewer at a connection is sent a medium (W3C `RTCRtpEncodingParameters.active`). Nil if the viewer is not in
    /// the room.
    func isActive(_ medium: SharedMedia, on connection: Connection) -> Bool? {
        self[connection].map { medium.goes(to: $0, destination: destination) }
    }

    /// The connections of the viewers that are sent a medium.
    func connections(sent medium: SharedMedia) -> Set<ObjectIdentifier> {
        Set(memberships.filter { medium.goes(to: $0.value, destination: destination) }.keys)
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
