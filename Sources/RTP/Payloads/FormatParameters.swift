/// The parameters of a format in a description (`a=fmtp`): names and values in any order.
package struct FormatParameters: Hashable, Sendable {
    private var values: [String: String] = [:]

    /// Creates parameters from the pairs of a description; of equal names the first counts.
    package init(_ pairs: [(name: String, value: String?)] = []) {
        for (name, value) in pairs {
            let name = name.lowercased()
            if values[name] == nil { values[name] = value ?? "" }
        }
    }

    /// The value of a parameter, whose name is compared without regard to case; nil if the description does not have
    /// it.
    package subscript(name: String) -> String? { values[name.lowercased()] }

    /// Returns a value that is a decimal number; nil for others.
    func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}

/// The rules of a payload format for its parameters in offers and answers (RFC 3264 §6.1).
package protocol VideoFormatParameters: Sendable {
    /// The value of `a=fmtp` in an offer; nil for none.
    var offered: String? { get }

    /// Whether the peer's parameters are the same configuration, so that both sides can use its payload type.
    func accepts(_ theirs: FormatParameters) -> Bool

    /// Returns the value of `a=fmtp` in an answer to parameters that are accepted; nil for none.
    func answer(to theirs: FormatParameters) -> String?

    /// Returns the limits that the peer's parameters set for frames that are sent to it.
    func limits(in theirs: FormatParameters) -> PictureLimits
}

/// The rules of a format whose parameters don't matter.
struct NoFormatParameters: VideoFormatParameters {
    let offered: String? = nil

    func accepts(_ theirs: FormatParameters) -> Bool { true }

    func answer(to theirs: FormatParameters) -> String? { nil }

    func limits(in theirs: FormatParameters) -> PictureLimits { PictureLimits() }
}
