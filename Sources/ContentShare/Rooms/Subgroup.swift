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
