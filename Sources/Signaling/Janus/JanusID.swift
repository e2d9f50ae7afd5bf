/// The id of a room or of a participant: a number, or a text if Janus was configured with `string_ids`.
public enum JanusID: Hashable, Sendable, CustomStringConvertible {
    /// The default form.
    case number(UInt64)
    /// The form with `string_ids`.
    case name(String)

    /// Parses a user's input. Digits that no number has, such as 007, are a text.
    public init(_ text: String) {
        self = UInt64(text).flatMap { "\($0)" == text ? .number($0) : nil } ?? .name(text)
    }

    /// The id as users write it.
    public var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .name(let name): name
        }
    }

    /// The id as a text.
    var asName: Self { .name(description) }
}

extension JanusID: Codable {
    /// Decodes a number or a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try (try? container.decode(UInt64.self)).map { .number($0) } ?? .name(container.decode(String.self))
    }

    /// Encodes a number or a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .name(let name): try container.encode(name)
        }
    }
}
