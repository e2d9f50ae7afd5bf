/// A direction of RTP streams within a section, as its writer sees it (RFC 8851 §4).
package enum StreamDirection: String, Hashable, Sendable {
    case send
    case receive = "recv"
}

/// `a=rid`: an RTP stream of a section, with its restrictions (RFC 8851 §10).
package struct RTPStreamAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The stream's id, which is unique in its section.
    package let id: String
    package let direction: StreamDirection
    /// The payload types that the stream can have; empty for all of the section.
    package let payloadTypes: [UInt8]
    /// The restrictions, in order, such as `max-br` with its value. Their names are in lower case.
    package let restrictions: [Restriction]

    package struct Restriction: Hashable, Sendable {
        package let name: String
        package let value: String?
    }

    package init(id: String, direction: StreamDirection) {
        self.id = id
        self.direction = direction
        payloadTypes = []
        restrictions = []
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 3)
        guard fields.count >= 2, fields[0].isStreamID, let direction = StreamDirection(rawValue: String(fields[1]))
        else { return nil }
        id = String(fields[0])
        self.direction = direction
        var payloadTypes: [UInt8] = []
        var restrictions: [Restriction] = []
        for item in fields.count == 3 ? fields[2].parts(at: ";") : [] {
            let parts = item.parts(at: "=", atMost: 2)
            let name = parts[0].fields.joined(separator: " ").lowercased()
            let value = parts.count == 2 ? parts[1].fields.joined(separator: " ") : nil
            if name == "pt" {
                payloadTypes = (value ?? "")[...].parts(at: ",").compactMap { $0.decimal(UInt8.self) }
            } else if !name.isEmpty {
                restrictions.append(Restriction(name: name, value: value))
            }
        }
        self.payloadTypes = payloadTypes
        self.restrictions = restrictions
    }

    /// Returns the value of a restriction, such as `max-br`; nil if there is none, or no number.
    package func limit(_ name: String) -> Double? {
        restrictions.first { $0.name == name }?.value.flatMap(Double.init).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    }

    /// The value of the line.
    package var description: String {
        let types = payloadTypes.map(String.init).joined(separator: ",")
        let rest = restrictions.map { restriction in restriction.name + (restriction.value.map { "=\($0)" } ?? "") }
        let items = (types.isEmpty ? [] : ["pt=" + types]) + rest
        return "\(id) \(direction.rawValue)" + (items.isEmpty ? "" : " " + items.joined(separator: ";"))
    }
}

/// `a=simulcast`: the RTP streams of a section that show the same source (RFC 8853 §5.1).
package struct SimulcastAttribute: Hashable, Sendable, CustomStringConvertible {
    /// A stream with its `a=rid`, which is not sent for now if it is paused.
    package struct Stream: Hashable, Sendable {
        package let id: String
        package let isPaused: Bool

        package init(_ id: String, isPaused: Bool = false) {
            self.id = id
            self.isPaused = isPaused
        }
    }

    /// The streams that the writer sends, in order, each with its alternatives. One of these is sent.
    package let sent: [[Stream]]
    /// The streams that the writer receives.
    package let received: [[Stream]]

    package init(sent: [[Stream]], received: [[Stream]] = []) {
        self.sent = sent
        self.received = received
    }

    init?(_ text: Substring) {
        let fields = text.fields
        var lists: [StreamDirection: [[Stream]]] = [:]
        guard fields.count == 2 || fields.count == 4 else { return nil }
        for index in stride(from: 0, to: fields.count, by: 2) {
            guard let direction = StreamDirection(rawValue: String(fields[index])), lists[direction] == nil,
                let list = Self.streams(fields[index + 1])
            else { return nil }
            lists[direction] = list
        }
        sent = lists[.send] ?? []
        received = lists[.receive] ?? []
    }

    private static func streams(_ text: Substring) -> [[Stream]]? {
        var streams: [[Stream]] = []
        for item in text.parts(at: ";") {
            var alternatives: [Stream] = []
            for name in item.parts(at: ",") {
                let isPaused = name.first == "~"
                let id = isPaused ? name.dropFirst() : name
                guard id.isStreamID else { return nil }
                alternatives.append(Stream(String(id), isPaused: isPaused))
            }
            streams.append(alternatives)
        }
        return streams
    }

    /// The value of the line.
    package var description: String {
        [("send", sent), ("recv", received)].filter { !$0.1.isEmpty }.map { direction, streams in
            let items = streams.map { alternatives in
                alternatives.map { ($0.isPaused ? "~" : "") + $0.id }.joined(separator: ",")
            }
            return "\(direction) " + items.joined(separator: ";")
        }.joined(separator: " ")
    }
}

extension Substring {
    /// Whether this is the id of an RTP stream: letters, digits, `-` and `_` (RFC 8851 §10).
    fileprivate var isStreamID: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
