/// The parts of a room to which a viewer belongs: the main room, subgroups, or both. None while the viewer waits for
/// admission.
public struct RoomMembership: Hashable, Sendable {
    /// Whether the viewer is in the main room.
    public let isInMainRoom: Bool
    /// The subgroups to which the viewer belongs.
    public let subgroups: Set<Subgroup>

    /// Creates a membership of the main room and some subgroups.
    public init(subgroups: Set<Subgroup> = []) {
        isInMainRoom = true
        self.subgroups = subgroups
    }

    /// Creates a membership of at least one subgroup, without the main room.
    public init(onlySubgroups subgroups: Set<Subgroup>) throws(SharingRoomError) {
        guard !subgroups.isEmpty else { throw .nowhere }
        isInMainRoom = false
        self.subgroups = subgroups
    }

    private init(waiting: Void) {
        isInMainRoom = false
        subgroups = []
    }

    /// The membership of a viewer that waits for admission. The viewer is connected, but is sent nothing until
    /// ``SharingRoom/changeMembership(of:to:)``.
    public static let waitingForApproval = RoomMembership(waiting: ())

    /// Whether the viewer waits for admission.
    public var isWaiting: Bool { self == .waitingForApproval }

    /// Returns whether a share to this destination is sent to the viewer.
    public func includes(_ destination: ShareDestination) -> Bool {
        switch destination {
        case .main: isInMainRoom
        case .subgroup(let subgroup): subgroups.contains(subgroup)
        }
    }
}
