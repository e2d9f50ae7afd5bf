/// The part of a room to which content is shared: the main room or one subgroup.
public enum ShareDestination: Hashable, Sendable, CustomStringConvertible {
    /// The main room.
    case main
    /// A subgroup.
    case subgroup(Subgroup)

    /// Parses the name of a subgroup, or `main`.
    public init(_ name: some StringProtocol) throws(SubgroupError) {
        self = name == Subgroup.mainRoom ? .main : .subgroup(try Subgroup(name))
    }

    /// The name.
    public var description: String {
        switch self {
        case .main: Subgroup.mainRoom
        case .subgroup(let subgroup): subgroup.name
        }
    }
}
