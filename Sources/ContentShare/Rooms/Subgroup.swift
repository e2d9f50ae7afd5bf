package import RTCShareWireFormat

/// The name of a part of a room, to which some viewers belong: `design`, `tech-leads`.
public struct Subgroup: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let name: String

    /// The name of the main room. No subgroup has this name.
    public static let mainRoom = "main"
    /// The maximum number of bytes of a name.
    public static let maximumLength = 64

    /// Checks a name. It has ASCII letters and digits and, except at its beginning, `.`, `_` and `-`.
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

/// The reason why a text is not a subgroup's name.
public enum SubgroupError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The text is longer than ``Subgroup/maximumLength``.
    case tooLong(length: Int)
    /// The text is the name of the main room.
    case reserved
    /// The text has a character that a name can't have, or can't begin with.
    case character(Character, in: String)
}

extension SubgroupError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension SubgroupError: ExplainedError {
    /// The problem, and separately a valid value.
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
