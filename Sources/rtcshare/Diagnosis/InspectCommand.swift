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
            Marks wrong lines with !! and the reason.

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

    /// The file's name in messages.
    private var name: String { file == "-" ? "the input" : file }

    private func explainDescription(_ bytes: [UInt8]) throws {
        let description = try description(in: bytes)
        if let wrapping = description.wrapping {
            Terminal.shared.say("\(name) is \(wrapping.rawValue): this is the description in it.")
        }
        let lines = SessionDescription.explain(description.text)
        for line in lines {
            if json {
                try StandardStreams.writeJSONLine(line)
                continue
            }
            let problem = line.problem.map { "  !! \($0)" } ?? ""
            try StandardStreams.writeLines([
                String(printing: "%4d  ", line.number) + line.text, "        " + line.explanation + problem,
            ])
        }
        // A line's problem was printed with the line.
        let count = lines.count { $0.problem != nil }
        let marked =
            (count == 1 ? "1 line has" : "\(count) lines have") + " a problem" + (json ? "" : ", marked with !!")
        let parsed: SessionDescription
        do throws(SDPError) {
            parsed = try SessionDescription.parse(description.text)
        } catch {
            guard count > 0 else { throw error }
            throw CommandFailure(
                .badInput, "\(name) is not a valid SDP: \(marked)", try: error.advice)
        }
        guard count == 0, !parsed.media.isEmpty else {
            throw CommandFailure(
                .badInput, "\(name) is not complete: \(count == 0 ? "it has no m= line" : marked)",
                try: "copy the whole description, from \"v=0\" to its last line")
        }
        if parsed.media.allSatisfy({ $0.attribute("candidate") == nil }) {
            Terminal.shared.say(
                "Warning: \(name) has no candidates. It may be truncated, or its candidates are sent in another way.")
        }
    }

    private func description(in bytes: [UInt8]) throws(CommandFailure) -> PastedDescription {
        let remedy = "give a session description, or a capture in rtpdump's format"
        guard let text = StandardStreams.decode(bytes), !text.contains("\0") else {
            let kind = FileKind.name(of: bytes) ?? "a file of binary data"
            throw CommandFailure(.badInput, "\(name) is \(kind)", try: remedy)
        }
        return try PastedDescription(in: text, name: name, expecting: "a session description", takesAnyText: true)
    }

    private func explainDump(_ bytes: [UInt8]) throws {
        var reader = try RTPDumpReader(bytes)
        let explanation = PacketExplanation(guessingFormatsOf: reader.readablePackets().map(\.bytes))
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
