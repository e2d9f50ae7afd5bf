internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Explain an SDP or rtpdump file line by line.",
        discussion: """
            Marks lines that are wrong with !! and says why.

                rtcshare inspect offer.sdp
                rtcshare inspect - < capture.rtpdump
            """)

    @Argument(
        help: ArgumentHelp("SDP offer or answer, or rtpdump file, - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Flag(help: "Print JSON Lines: an object for each line of the SDP, or for each packet.") var json = false

    func run() async throws {
        try await reportingFailure {
            let bytes = try StandardStreams.readBytes(file, what: "file")
            if bytes.starts(with: Array("#!rtpplay".utf8)) {
                try explainDump(bytes)
            } else {
                try explainDescription(bytes)
            }
        }
    }

    private func explainDescription(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        for line in SessionDescription.explain(text) {
            if json {
                try StandardStreams.writeJSONLine(line)
                continue
            }
            let problem = line.problem.map { "  !! \($0)" } ?? ""
            try StandardStreams.writeLines([
                String(printing: "%4d  ", line.number) + line.text, "        " + line.explanation + problem,
            ])
        }
        // What doesn't parse was shown with its line; the status tells a script.
        _ = try SessionDescription.parse(utf8: bytes)
    }

    private func explainDump(_ bytes: [UInt8]) throws {
        var reader = try RTPDumpReader(bytes)
        let explanation = PacketExplanation(vp8PayloadTypes: Set((96...127).map { PayloadType(masking: $0) }))
        while let packet = try reader.next() {
            let line = explanation.explain(packet.bytes.span.bytes)
            if json {
                try StandardStreams.writeJSONLine(ExplainedPacket(seconds: packet.time.seconds, explanation: line))
                continue
            }
            try StandardStreams.writeLines([String(printing: "%9.3f s  ", packet.time.seconds) + line])
        }
    }

    private struct ExplainedPacket: Encodable {
        let seconds: Double
        let explanation: String
    }
}
