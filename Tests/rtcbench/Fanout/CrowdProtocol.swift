internal import Foundation

/// What the sending process tells the one that plays the viewers, a line of JSON each.
enum CrowdCommand: Codable {
    /// Answer an offer with a new viewer.
    case offer(index: Int, description: String)
    /// Have a viewer hear and say nothing any more, as a machine that was unplugged; it counts no longer.
    case unplug(index: Int)
    /// Count from zero.
    case reset
    /// Say what was counted.
    case report
    /// End.
    case quit
}

/// What comes back.
enum CrowdReply: Codable {
    /// A viewer's answer, and its UDP port.
    case answer(index: Int, description: String, port: UInt16)
    /// What was counted.
    case report(CrowdReport)
    /// Something went wrong.
    case failed(String)
}

/// What the viewers counted since they were told to.
struct CrowdReport: Codable {
    var viewers = 0
    var connected = 0
    /// Media packets, without padding and what was sent again.
    var packets = 0
    var bytes = 0
    /// Gaps in the sequence numbers.
    var lost = 0
    var padding = 0
    var feedbackSent = 0
    /// Of the packets that were looked into, those that did not authenticate.
    var forged = 0
    var framesTimed = 0
    /// From the frame's being handed on to its last packet's arrival, in milliseconds, of the viewers that look into
    /// their packets.
    var delay50 = 0.0
    var delay95 = 0.0
    var delayMost = 0.0
    /// Share of a processor that the viewers took.
    var processorShare = 0.0
}

extension Encodable {
    /// A line of JSON.
    var line: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            var data = try encoder.encode(self)
            data.append(0x0A)
            return data
        }
    }
}
