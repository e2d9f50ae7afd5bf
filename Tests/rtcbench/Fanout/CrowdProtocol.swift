internal import Foundation

/// A command for the viewers' process, in a line of JSON.
enum CrowdCommand: Codable {
    /// Answer an offer with a new viewer.
    case offer(index: Int, description: String)
    /// Make a viewer ignore everything and send nothing, like an unplugged machine; it is not counted any more.
    case unplug(index: Int)
    /// Reset the counts.
    case reset
    /// Report the counts.
    case report
    /// End.
    case quit
}

/// A reply of the viewers' process.
enum CrowdReply: Codable {
    /// A viewer's answer, and its UDP port.
    case answer(index: Int, description: String, port: UInt16)
    /// The counts.
    case report(CrowdReport)
    /// An error.
    case failed(String)
}

/// The counts of the viewers since the last reset.
struct CrowdReport: Codable {
    var viewers = 0
    var connected = 0
    /// The number of media packets, without padding and retransmissions.
    var packets = 0
    var bytes = 0
    /// The number of gaps in the sequence numbers.
    var lost = 0
    var padding = 0
    var feedbackSent = 0
    /// The number of decrypted packets that did not authenticate.
    var forged = 0
    var framesTimed = 0
    /// The delay from the sending of a frame to its last packet's arrival, in milliseconds, for the viewers that
    /// decrypt their packets.
    var delay50 = 0.0
    var delay95 = 0.0
    var delayMost = 0.0
    /// The share of a processor that the viewers used.
    var processorShare = 0.0
}

extension Encodable {
    /// The value as a line of JSON.
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
