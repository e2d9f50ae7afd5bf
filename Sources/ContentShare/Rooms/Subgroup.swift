package import RTCShareWireFormat

/// The name of a part of a room, of which some viewers are members: `design`, `tech-leads`.
public struct Subgroup: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let name: String

    /// What the room as a whole is called: no subgroup has this name.
    public static let mainRoom = "main"
    /// The most bytes of a name.
    public static let maximumLength = 64

    /// Takes a name: letters and digits of ASCII, and `.`, `_` and `-` behind the first of them.
    public init(_ name: some StringProtocol) throws(SubgroupError) {
        let name = String(name)
        guard !name.isEmpty else { throw .empty }
        guard name.utf8.count <= Self.maximumLength else { throw .tooLong(length: name.utf8.count) }
        guard name != Self.mainRoom else { throw .reserved }
        for (index, character) in name.enumerated() where !Self.isAllowed(character, isFirst: index == 0) {
            throw .character(character, in: name)
        }
        self.name = name
    }

    /// The name.
    public var description: String { name }

    private static func isAllowed(_ character: Character, isFirst: Bool) -> Bool {
        guard let value = character.asciiValue else { return false }
        return switch value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): !isFirst
        default: false
        }
    }
}

/// Why a text is no subgroup's name.
public enum SubgroupError: Error, Hashable, Sendable {
    /// There is nothing.
    case empty
    /// It is longer than ``Subgroup/maximumLength``.
    case tooLong(length: Int)
    /// It is what the main room is called.
    case reserved
    /// A character that no name may have, or not at its beginning.
    case character(Character, in: String)
}

extension SubgroupError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension SubgroupError: ExplainedError {
    /// The problem and, separately, a valid value.
    package var explanation: Explanation {
        switch self {
        case .empty: Explanation("a subgroup's name can't be empty", remedy: "give a name such as design")
        case .tooLong(let length):
            Explanation(
                "the subgroup's name is too long: \(length) bytes",
                remedy: "give a name of at most \(Subgroup.maximumLength) bytes")
        case .reserved:
            Explanation("\(Subgroup.mainRoom) is the main room, not a subgroup", remedy: "give another name")
        case .character(let character, let name):
            Explanation(
                "the subgroup name \(name.debugDescription) can't contain \(character == " " ? "a space" : String(character).debugDescription)",
                remedy: "use letters and digits, and after the first character also . _ and -")
        }
    }
}

/// Where a share goes: to those in the main room, or to the members of one subgroup.
public enum ShareDestination: Hashable, Sendable, CustomStringConvertible {
    /// Those who are in the main room.
    case main
    /// The members of a subgroup.
    case subgroup(Subgroup)

    /// The destination of this name: that of a subgroup, or `main`.
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

/// Where a viewer of a room is: in the main room, in subgroups, or in both; or before the door.
public struct RoomMembership: Hashable, Sendable {
    /// Whether the viewer is in the main room.
    public let isInMainRoom: Bool
    /// The subgroups that the viewer is a member of.
    public let subgroups: Set<Subgroup>

    /// The main room and some subgroups.
    public init(subgroups: Set<Subgroup> = []) {
        isInMainRoom = true
        self.subgroups = subgroups
    }

    /// Subgroups alone, of which there is at least one.
    public init(onlySubgroups subgroups: Set<Subgroup>) throws(SharingRoomError) {
        guard !subgroups.isEmpty else { throw .nowhere }
        isInMainRoom = false
        self.subgroups = subgroups
    }

    private init(waiting: Void) {
        isInMainRoom = false
        subgroups = []
    }

    /// Before the door: connected, and sent nothing until ``SharingRoom/changeMembership(of:to:)`` lets the viewer in.
    public static let waiting = RoomMembership(waiting: ())

    /// Whether the viewer waits to be let in.
    public var isWaiting: Bool { self == .waiting }

    /// Whether a share to this destination goes to the viewer.
    public func includes(_ destination: ShareDestination) -> Bool {
        switch destination {
        case .main: isInMainRoom
        case .subgroup(let subgroup): subgroups.contains(subgroup)
        }
    }
}
