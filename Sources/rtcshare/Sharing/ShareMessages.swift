internal import FoundationEssentials
internal import RTCShareWireFormat

/// The newest messages of a share for its presenter. None has a link: a page that shows them can be on the shared screen.
struct ShareMessages {
    private(set) var newest: [ControlledShare.Message] = []
    private var countSoFar = 0

    private static let most = 20

    /// Adds the lines that the terminal prints as one message.
    mutating func add(_ lines: [String], at time: Date) {
        countSoFar += 1
        let message = ControlledShare.Message(id: countSoFar, time: time, lines: lines)
        newest = newest.suffix(Self.most - 1) + [message]
    }
}

extension ControlledShare.Message {
    /// Creates the message of lines for the terminal, one of which may have a remedy. The first one is never it.
    fileprivate init(id: Int, time: Date, lines: [String]) {
        func remedy(in line: String) -> String? {
            CommandFailure.remedyMarks.first { line.hasPrefix($0) }.map { String(line.dropFirst($0.count)) }
        }
        var lines = lines
        let place = lines.indices.dropFirst().last { remedy(in: lines[$0]) != nil }
        let remedy = place.flatMap { remedy(in: lines.remove(at: $0)) }
        self.init(
            id: id, time: time, text: lines.map(\.printable).joined(separator: "\n"), remedy: remedy?.printable)
    }
}
