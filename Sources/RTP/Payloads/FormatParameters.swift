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
    func accepts(_ theirs: FormatParameters, _ leniency: FormatLeniency) -> Bool

    /// Returns the value of `a=fmtp` in an answer to parameters that are accepted; nil for none.
    func answer(to theirs: FormatParameters) -> String?

    /// Returns the limits that the peer's parameters set for frames that are sent to it.
    func limits(in theirs: FormatParameters) -> PictureLimits
}

extension VideoFormatParameters {
    /// Whether the peer's parameters are the same configuration in every respect.
    package func accepts(_ theirs: FormatParameters) -> Bool { accepts(theirs, []) }
}

/// The circumstances that allow the peer's parameters to differ from the same configuration.
package struct FormatLeniency: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The peer sends nothing: it is enough that it decodes the video of this side.
    package static let isReceiver = FormatLeniency(rawValue: 1)
    /// An answer has the payload type of the offer, whose configuration a missing parameter has.
    package static let repeatsOffer = FormatLeniency(rawValue: 2)
}

/// The rules of a format whose parameters don't matter.
struct NoFormatParameters: VideoFormatParameters {
    let offered: String? = nil

    func accepts(_ theirs: FormatParameters, _ leniency: FormatLeniency) -> Bool { true }

    func answer(to theirs: FormatParameters) -> String? { nil }

    func limits(in theirs: FormatParameters) -> PictureLimits { PictureLimits() }
}
