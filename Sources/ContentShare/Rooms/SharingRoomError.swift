package import RTCShareWireFormat

/// The reason why a request to a room failed. The room has not changed.
public enum SharingRoomError: Error, Hashable, Sendable {
    /// The room has ended.
    case ended
    /// The owner has not joined this subgroup.
    case notJoined(Subgroup)
    /// The owner shares to this subgroup.
    case sharingTo(Subgroup)
    /// A viewer would be neither in the main room nor in a subgroup.
    case nowhere
    /// There is no viewer with this number, or the viewer has left.
    case unknownViewer(Int)
    /// The room has the maximum number of viewers.
    case tooManyViewers(limit: Int)
}

extension SharingRoomError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension SharingRoomError: ExplainedError {
    /// The problem, and separately its remedy.
    package var explanation: Explanation {
        switch self {
        case .ended: Explanation("the room has ended", remedy: "make a new one")
        case .notJoined(let subgroup): Explanation("you are not in the subgroup \(subgroup)", remedy: "join it first")
        case .sharingTo(let subgroup):
            Explanation(
                "can't leave \(subgroup) while you share to it", remedy: "change the destination, or stop the share")
        case .nowhere:
            Explanation("a viewer must be in the main room or in a subgroup", remedy: "name one of them")
        case .unknownViewer(let viewer): "no viewer \(viewer)"
        case .tooManyViewers(let limit): "the room is full: \(limit) viewers are allowed"
        }
    }
}
