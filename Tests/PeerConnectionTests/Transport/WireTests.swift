import RTCShareRTP
import RTCShareSDP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The packets that the sender sends, unprotected with the viewer's keys.
@Suite struct WireTests {
    @Test("No copy of the SRTP keys remains once SRTP has them")
    func keysDiscarded() throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 460)
        while call.record.connected == nil { call.run(for: .milliseconds(10), sendsFrames: false) }
        #expect(call.sender.transport.outbound != nil && call.sender.transport.dtls != nil)
        #expect(call.sender.transport.dtls?.keys == nil)
        call.run(for: .seconds(1))
        #expect(call.viewer.transport.inbound != nil && call.viewer.transport.dtls?.keys == nil)
    }

    /// An RTP packet as the viewer decrypts it.
    struct Packet {
        let header: RTPHeader
        let bytes: [UInt8]
    }

    /// Runs a call and returns the sender's RTP packets: as sent, and as decrypted.
    private func run(
        seed: UInt64, loss: Double, editOffer: @escaping (String) -> String
    ) throws -> (call: SimulatedCall, wire: [[UInt8]], packets: [Packet]) {
        var options = SimulatedCall.Options()
        options.editOffer = editOffer
        let call = try SimulatedCall(
            conditions: LinkConditions(loss: loss, delay: .milliseconds(20)), seed: seed, options: options)
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp { wire.value.append(datagram.bytes) }
        }
        call.run(for: .seconds(6))
        call.run(for: .seconds(1), sendsFrames: false)
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let packets = wire.value.compactMap { protected -> Packet? in
            var bytes = protected
            guard (try? receiver.unprotectRTP(&bytes)) != nil else { return nil }
            return (try? RTPHeader(parsing: bytes.span.bytes)).map { Packet(header: $0, bytes: bytes) }
        }
        return (call, wire.value, packets)
    }

    @Test("Without RTX a lost packet is resent unchanged, and the viewer accepts it")
    func repeatsWithoutRTX() throws {
        let (call, wire, _) = try run(seed: 201, loss: 0.05, editOffer: Self.withoutRTX)
        var first: [UInt16: [UInt8]] = [:]
        var repeated = 0
        for datagram in wire {
            let number = UInt16(datagram[2]) << 8 | UInt16(datagram[3])
            if let known = first[number] {
                #expect(known == datagram)
                repeated += 1
            } else {
                first[number] = datagram
            }
        }
        #expect(repeated > 20)
        let outbound = try #require(call.sender.report(now: call.now).outboundRTP[0])
        #expect(outbound.video?.retransmittedPacketsSent == UInt64(repeated))
        #expect(outbound.rtxSsrc == nil)
        #expect(call.record.frames.count >= call.framesSent * 98 / 100, "\(call.record.frames.count)")
    }

    @Test("Payload types and extension IDs are those of the answer, whatever the offer contained")
    func numbersOfAnswer() throws {
        let (call, _, packets) = try run(seed: 202, loss: 0.05, editOffer: Self.renumbered)
        let media = packets.filter { $0.header.payloadType == PayloadType(41) }
        let repeats = packets.filter { $0.header.payloadType == PayloadType(42) }
        #expect(media.count > 100)
        #expect(!repeats.isEmpty)
        #expect(media.count + repeats.count == packets.count)
        #expect(Set(media.map(\.header.source)).count == 1)
        #expect(Set(repeats.map(\.header.source)).count == 1)

        var map = HeaderExtensionMap()
        // A later offer keeps them.
        for (id, uri) in Self.extensions(of: try call.sender.makeOffer().description) {
            if let kind = HeaderExtensionKind(uri: uri) { map[kind] = id }
        }
        let all = packets.map { HeaderExtensions($0.header, in: $0.bytes.span.bytes, map: map) }
        #expect(all.allSatisfy { $0.transportSequenceNumber != nil && $0.absoluteSendTime != nil })
        // One numbering for the whole transport, retransmissions included.
        let numbers = all.compactMap(\.transportSequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0.next == $1 })
        let mid = call.sender.identity.media[0].mid
        #expect(all.first?.mediaIdentification == mid)
        let isMedia = packets.map { $0.header.payloadType == PayloadType(41) }
        let lastMedia = try #require(isMedia.lastIndex(of: true))
        #expect(all[lastMedia].mediaIdentification == nil, "the viewer has reported on the source by then")
        for (extensions, isMedia) in zip(all, isMedia) where !isMedia {
            #expect(extensions.mediaIdentification == mid, "no report is about the source of retransmissions")
        }
        #expect(all.contains { $0.videoContentType == .screenshare })
        #expect(all.first?.playoutDelay == PlayoutDelay(minimum: .zero, maximum: .zero))
    }

    @Test("Reports begin after the first media packet and follow every second")
    func reportSchedule() throws {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: 203)
        let wire = Box<[(kind: DatagramKind, bytes: [UInt8])]>([])
        call.tap = { datagram, end in
            if end == .left { wire.value.append((DatagramKind(datagram.bytes.span.bytes), datagram.bytes)) }
        }
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(!wire.value.contains { $0.kind == .rtcp })
        call.run(for: .seconds(5))
        let firstMedia = try #require(wire.value.firstIndex { $0.kind == .rtp })
        let firstReport = try #require(wire.value.firstIndex { $0.kind == .rtcp })
        #expect(firstMedia < firstReport)

        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let reports = try wire.value.filter { $0.kind == .rtcp }.flatMap { datagram in
            var bytes = datagram.bytes
            try receiver.unprotectRTCP(&bytes)
            return try RTCPPacket.parse(compound: bytes.span.bytes)
        }
        let senderReports = reports.compactMap { if case .senderReport(let report) = $0 { report } else { nil } }
        #expect((4...6).contains(senderReports.count))
        #expect(senderReports.allSatisfy { $0.packetCount > 0 && $0.octetCount > 0 })
    }

    @Test("Closing before the first frame sends a goodbye with a receiver report, since no packet was sent")
    func earlyClose() throws {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: 204)
        call.run(for: .seconds(1), sendsFrames: false)
        let keys = try #require(call.viewerKeys)
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in if end == .left { wire.value.append(datagram.bytes) } }
        call.sender.close(now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        // The goodbye, then DTLS's close_notify, and nothing after.
        #expect(wire.value.map { DatagramKind($0.span.bytes) } == [.rtcp, .dtls])
        var bytes = try #require(wire.value.first)
        try SRTPReceiver(profile: keys.profile, masterKey: keys.remote).unprotectRTCP(&bytes)
        let packets = try RTCPPacket.parse(compound: bytes.span.bytes)
        guard case .receiverReport = packets.first, case .goodbye = packets.last else {
            Issue.record("\(packets)")
            return
        }
        #expect(call.record.goodbyes == 1, "one event, although BYE and close_notify both came")
    }

    // MARK: Edits of a description

    /// The offer as a gateway would pass it on that knows no RTX.
    static func withoutRTX(_ text: String) -> String {
        let lines = text.split(separator: "\r\n").map(String.init)
        let rtx = lines.compactMap { line in
            line.hasPrefix("a=rtpmap:") && line.contains(" rtx/")
                ? line.dropFirst("a=rtpmap:".count).prefix { $0 != " " } : nil
        }
        return lines.filter { line in
            !rtx.contains { line.hasPrefix("a=rtpmap:\($0) ") || line.hasPrefix("a=fmtp:\($0) ") }
                && !line.hasPrefix("a=ssrc-group:FID")
        }.map { line in
            guard line.hasPrefix("m=") else { return line }
            return line.split(separator: " ").enumerated()
                .filter { $0.offset < 3 || !rtx.contains($0.element) }.map { String($0.element) }
                .joined(separator: " ")
        }.joined(separator: "\r\n") + "\r\n"
    }

    /// The offer with VP8 as 41, RTX as 42, and every extension id moved on by seven.
    private static func renumbered(_ text: String) -> String {
        let lines = text.split(separator: "\r\n").map(String.init)
        var numbers: [String: String] = [:]
        for line in lines where line.hasPrefix("a=rtpmap:") {
            let number = String(line.dropFirst("a=rtpmap:".count).prefix { $0 != " " })
            numbers[number] = line.contains(" VP8/") ? "41" : "42"
        }
        return lines.map { line in
            if line.hasPrefix("m=") {
                return line.split(separator: " ").enumerated().map { index, word in
                    index < 3 ? String(word) : numbers[String(word)] ?? String(word)
                }.joined(separator: " ")
            }
            if line.hasPrefix("a=extmap:") {
                let words = line.dropFirst("a=extmap:".count).split(separator: " ", maxSplits: 1)
                return "a=extmap:\((Int(words[0]) ?? 0) + 7) \(words[1])"
            }
            for name in ["a=rtpmap:", "a=fmtp:", "a=rtcp-fb:"] where line.hasPrefix(name) {
                let words = line.dropFirst(name.count).split(separator: " ", maxSplits: 1)
                guard let number = numbers[String(words[0])] else { return line }
                var rest = String(words[1])
                if rest.hasPrefix("apt=") { rest = "apt=" + (numbers[String(rest.dropFirst(4))] ?? "") }
                return "\(name)\(number) \(rest)"
            }
            return line
        }.joined(separator: "\r\n") + "\r\n"
    }

    private static func extensions(of text: String) -> [(UInt8, String)] {
        text.split(separator: "\r\n").filter { $0.hasPrefix("a=extmap:") }.compactMap { line in
            let words = line.dropFirst("a=extmap:".count).split(separator: " ")
            return UInt8(words[0].prefix { $0 != "/" }).map { ($0, String(words[1])) }
        }
    }
}

/// A value that a closure of a test writes to.
final class Box<Value> {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
