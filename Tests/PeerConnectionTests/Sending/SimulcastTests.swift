import RTCShareCongestionControl
import RTCShareNetworkSimulation
import RTCShareRTP
import RTCShareSDP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The layers of shared content (RFC 8853), with an answer that a server with simulcast would give.
@Suite struct SimulcastTests {
    private static let screen = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
    private static let camera = LocalIdentity.MediaKind.video(streamID: "alice", isContent: false)

    /// The lines of a server that receives these layers.
    private static func lines(_ received: String, _ more: [String] = []) -> String {
        let extensions = [
            (9, HeaderExtensionURI.streamIdentification), (10, .repairedStreamIdentification),
        ].map { "a=extmap:\($0) \($1.rawValue)\r\n" }.joined()
        let layers = received.split { ";,".contains($0) }.map { "a=rid:\($0.filter { $0 != "~" }) recv\r\n" }.joined()
        return extensions + (more.isEmpty ? layers : more.map { $0 + "\r\n" }.joined())
            + "a=simulcast:recv \(received)\r\n"
    }

    /// Creates a call whose answer has more lines in its first section.
    private static func call(
        seed: UInt64, layers: Int = 3, media: [LocalIdentity.MediaKind] = [screen], answering lines: String,
        conditions: LinkConditions = LinkConditions(delay: .milliseconds(20))
    ) throws -> SimulatedCall {
        var options = SimulatedCall.Options()
        options.media = media
        options.sender.contentLayers = layers
        options.editAnswer = { $0.replacing("a=rtcp-mux\r\n", with: "a=rtcp-mux\r\n" + lines, maxReplacements: 1) }
        return try SimulatedCall(conditions: conditions, seed: seed, options: options)
    }

    /// A packet of the sender, as it reached the network.
    private struct Sent {
        let source: UInt32
        let layer: String?
        let repairedLayer: String?
        let isNamed: Bool
        let isPadding: Bool
        let byteCount: Int
        let at: Instant
    }

    /// Returns the packets that the sender sends from now on.
    private func packets(of call: SimulatedCall) throws -> Box<[Sent]> {
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let map = try #require(call.sender.outbound[0].stream).parameters.extensions
        let sent = Box<[Sent]>([])
        call.tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtp, (try? receiver.unprotectRTP(&bytes)) != nil,
                let header = try? RTPHeader(parsing: bytes.span.bytes)
            else { return }
            let extensions = HeaderExtensions(header, in: bytes.span.bytes, map: map)
            sent.value.append(
                Sent(
                    source: header.source.rawValue, layer: extensions.streamIdentification,
                    repairedLayer: extensions.repairedStreamIdentification,
                    isNamed: extensions.mediaIdentification != nil,
                    isPadding: header.payloadRange.isEmpty, byteCount: bytes.count, at: call.now))
        }
        return sent
    }

    @Test("An offer lists the layers of content without their sources, and one stream of a camera with its source")
    func offer() throws {
        let call = try Self.call(seed: 901, media: [Self.screen, Self.camera], answering: Self.lines("f;h;q"))
        let media = try call.makeOffer().media
        #expect(media.count == 2)
        #expect(
            try media[0].rtpStreams().map(\.id) == ["f", "h", "q"]
                && media[0].rtpStreams().allSatisfy { $0.direction == .send })
        #expect(try media[0].simulcast()?.description == "send f;h;q")
        let ids = try media[0].extensionMaps().map(\.uri)
        #expect(ids.contains(HeaderExtensionURI.streamIdentification.rawValue))
        #expect(ids.contains(HeaderExtensionURI.repairedStreamIdentification.rawValue))
        #expect(try media[0].sources().isEmpty && media[1].sources().count == 4)
        #expect(try media[1].simulcast() == nil && media[1].rtpStreams().isEmpty)
        #expect(Set(call.sender.localMedia.map(\.source)).count == 4)
    }

    @Test(
        "The layers that the answer receives are sent, except paused ones",
        arguments: [
            ("f;h;q", [MediaAgreement.agreed, .agreed, .agreed]), ("f;~h", [.agreed, .pending, .refused]),
            ("q;f", [.agreed, .refused, .agreed]), ("~f;x;h", [.pending, .agreed, .refused]),
            ("f,h;q", [.agreed, .refused, .agreed]),
        ])
    func acceptedLayers(received: String, agreements: [MediaAgreement]) throws {
        let call = try Self.call(seed: 902, answering: Self.lines(received))
        call.run(for: .seconds(2))
        #expect((0..<3).map { call.agreement($0) } == agreements)
        #expect((0..<3).map { call.isSending($0) } == agreements.map { $0 == .agreed })
    }

    @Test(
        "To a peer without simulcast, only the first layer is sent, without an id",
        arguments: [
            "", "a=simulcast:recv f;h;q\r\n", "a=extmap:9 \(HeaderExtensionURI.streamIdentification.rawValue)\r\n",
            "a=extmap:9 \(HeaderExtensionURI.streamIdentification.rawValue)\r\na=simulcast: recv rid=f;h\r\n",
        ])
    func noSimulcast(lines: String) throws {
        let call = try Self.call(seed: 903, answering: lines)
        call.run(for: .seconds(1))
        #expect((0..<3).map { call.agreement($0) } == [.agreed, .refused, .refused])
        let sent = try packets(of: call)
        call.run(for: .seconds(1))
        #expect(call.record.frames.count > 30 && sent.value.allSatisfy { $0.layer == nil && $0.repairedLayer == nil })
        #expect(call.sender.outbound[1].stream == nil && call.sender.outbound[2].stream == nil)
    }

    @Test(
        "Retransmissions name their section where the descriptions do not name their source", arguments: ["", "f;h;q"])
    func identifiedRetransmissions(received: String) throws {
        let lines = received.isEmpty ? "" : Self.lines(received)
        let call = try Self.call(
            seed: 910, answering: lines, conditions: LinkConditions(loss: 0.1, delay: .milliseconds(20)))
        call.run(for: .seconds(1))
        let sent = try packets(of: call)
        call.run(for: .seconds(2))
        let own = call.sender.localMedia[0].retransmissionSource
        let repairs = sent.value.filter { $0.source == own }
        #expect(repairs.count > 3 && repairs.allSatisfy { $0.isNamed })
        #expect(repairs.allSatisfy { $0.repairedLayer == (received.isEmpty ? nil : "f") })
    }

    @Test("Packets name their layer until the peer reports on its source, and retransmissions always do")
    func identifiedPackets() throws {
        let call = try Self.call(seed: 904, answering: Self.lines("f;h;q"))
        let isReported = Box(false)
        // The viewer, which knows no simulcast, reports on one source at most: its reports are of the other kind here.
        call.loses = { datagram, end in
            end == .right && DatagramKind(datagram.bytes.span.bytes) == .rtcp && !isReported.value
        }
        call.run(for: .milliseconds(500))
        let sent = try packets(of: call)
        call.run(for: .seconds(1))
        let sources = call.sender.localMedia.map(\.source)
        for (index, layer) in ["f", "h", "q"].enumerated() {
            let own = sent.value.filter { $0.source == sources[index] }
            #expect(own.count > 30 && own.allSatisfy { $0.layer == layer }, "\(layer)")
        }
        for repair in sent.value.filter({ !sources.contains($0.source) }) {
            #expect(repair.layer == nil && ["f", "h", "q"].contains(repair.repairedLayer))
        }
        let statistics = call.sender.report(now: call.now)
        #expect((0..<3).map { statistics.outboundRTP[$0]?.rid } == ["f", "h", "q"])
        #expect(statistics.mediaSources.count == 1)
    }

    @Test("The restrictions of an answer are the limits of their layer alone")
    func restrictions() throws {
        let more = [
            "a=rid:f recv", "a=rid:h recv pt=96;max-br=500000;max-fps=12;max-fs=921600",
            "a=rid:q recv max-width=640;max-height=360;max-br=none;depend=h",
        ]
        let call = try Self.call(seed: 905, answering: Self.lines("f;h;q", more))
        #expect(call.sender.mediaLimits(media: 0).maximumBitrate == nil)
        let middle = call.sender.mediaLimits(media: 1)
        #expect(middle.maximumBitrate == .kilobitsPerSecond(500) && middle.maximumFramesPerSecond == 12)
        #expect(middle.maximumMacroblocks == 3600)
        let least = call.sender.mediaLimits(media: 2)
        #expect(least.maximumBitrate == nil && least.maximumMacroblocks == 920)
        #expect(call.sender.videoFormats(media: 0).count >= call.sender.videoFormats(media: 1).count)
        #expect(call.sender.videoFormats(media: 1).allSatisfy { $0.payloadType.rawValue == 96 })
    }

    @Test(
        "The better layers are paused first, and none is sent with less than the next one can have",
        arguments: [
            (300, [false, false, true]), (450, [false, false, true]), (800, [false, true, true]),
            (3000, [true, true, true]),
        ])
    func allocation(kilobits: Int, isSent: [Bool]) throws {
        let call = try Self.call(
            seed: 906, answering: Self.lines("f;h;q"),
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(kilobits)))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(20))
        let rates = (0..<3).map { call.sender.targetBitrate(media: $0)?.bitrate ?? .zero }
        #expect(rates.map { $0 > .zero } == isSent, "\(rates)")
        // Of the lowest layer, whose 250 kbit/s come before the next one.
        let least = kilobits > 300 ? DataRate.kilobitsPerSecond(249) : .kilobitsPerSecond(100)
        #expect(rates[2] > least, "\(rates)")
    }

    /// Sets the demands of the layers of an encoding.
    private static func setDemands(of call: SimulatedCall) {
        for media in 0..<3 {
            let maximum = SimulcastLayer(media).maximumBitrate(of: .kilobitsPerSecond(2500))
            let demand = BitrateDemand(minimum: .kilobitsPerSecond(30), maximum: maximum, priority: .medium)
            call.sender.setDemand(demand, media: media, now: call.now)
        }
    }

    @Test(
        "The bandwidth of a section is that of its layers together, of which the lower ones use it first",
        arguments: [
            (200, [0, 0, 200]), (450, [0, 0, 250]), (600, [0, 350, 250]), (1600, [0, 700, 250]),
            (2000, [1050, 700, 250]), (9000, [2500, 700, 250]),
        ])
    func bandwidth(kilobits: Int, expected: [Int64]) throws {
        let call = try Self.call(
            seed: 916, answering: "b=TIAS:\(kilobits)000\r\n" + Self.lines("f;h;q"),
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(20_000)))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(20))
        let rates = (0..<3).map { call.sender.targetBitrate(media: $0)?.bitrate ?? .zero }
        for (rate, kilobits) in zip(rates, expected) {
            #expect(abs(rate.bitsPerSecond - kilobits * 1000) <= kilobits * 100, "\(rates)")
        }
    }

    @Test("A summary has the counts of each layer, with the reason of a pause")
    func summary() throws {
        let call = try Self.call(
            seed: 919, answering: "b=TIAS:600000\r\n" + Self.lines("f;~h;q"),
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(20_000)))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(5))
        let summary = call.sender.sendingSummary(now: call.now)
        #expect(summary.layers.map(\.rid) == ["f", "h", "q"])
        #expect(summary.layers.map(\.pauseReason) == [nil, .requested, nil])
        #expect(summary.layers.map { $0.video.framesSent > 0 } == [true, false, true])
        #expect(summary.video?.framesSent == summary.layers[0].video.framesSent)
        #expect(summary.layers.map(\.bytesSent).reduce(0, +) == summary.bytesSent)
        // The lowest layer uses the bitrate of the descriptions first.
        let few = try Self.call(seed: 920, answering: "b=TIAS:200000\r\n" + Self.lines("f;q"))
        few.followsTargets = true
        Self.setDemands(of: few)
        few.run(for: .seconds(5))
        let retried = BitrateDemand(
            minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(200), priority: .medium, hasFailed: true)
        for (demand, reason) in [(BitrateDemand.zero, .inactive), (.failed, .encoder), (retried, .encoder)]
            as [(BitrateDemand, SendingSummary.PauseReason)]
        {
            few.sender.setDemand(demand, media: 2, now: few.now)
            #expect(few.sender.sendingSummary(now: few.now).layers[2].pauseReason == reason)
        }
        Self.setDemands(of: few)
        let paused = few.sender.sendingSummary(now: few.now)
        #expect(paused.layers.map(\.pauseReason) == [.bitrate, .refused, nil])
        #expect(paused.video?.framesSent == paused.layers[2].video.framesSent)
    }

    @Test("Further layers that have more than usual raise the maximum of the path")
    func largeLayers() throws {
        let call = try Self.call(seed: 918, answering: Self.lines("f;h;q"))
        Self.setDemands(of: call)
        #expect(call.sender.bandwidth.estimator.maximum == .kilobitsPerSecond(2500 + 700 + 250))
        let demand = BitrateDemand(
            minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(1500), priority: .medium)
        call.sender.setDemand(demand, media: 1, now: call.now)
        #expect(call.sender.bandwidth.estimator.maximum == .kilobitsPerSecond(2500 + 1500 + 250))
        // The layer can resume at any time.
        call.sender.setDemand(.zero, media: 1, now: call.now)
        #expect(call.sender.bandwidth.estimator.maximum == .kilobitsPerSecond(2500 + 1500 + 250))
    }

    @Test("A receiver can pause one layer and resume it with a key frame, without the others")
    func requestedPause() throws {
        let call = try Self.call(seed: 917, answering: Self.lines("f;h;q"))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(10))
        // Without those of the viewer, which knows no simulcast.
        var requested: [Int] = []
        func limit(_ kilobits: Int) {
            let entry = TemporaryMaximumBitrate.Entry(
                source: SynchronizationSource(call.sender.localMedia[0].source), bitrate: .kilobitsPerSecond(kilobits))
            let limits = TemporaryMaximumBitrate(sender: SynchronizationSource(7), entries: [entry])
            let now = call.now
            call.sender.receiveControl(
                RTCPPacket.temporaryMaximumBitrate(limits).bytes.span.bytes, now: now)
            call.sender.handleTimeout(now: now)
            while let event = call.sender.pollEvent() {
                if case .keyFrameRequested(let media) = event { requested.append(media) }
            }
            call.run(for: .seconds(1))
        }
        func rates() -> [DataRate] { (0..<3).map { call.sender.targetBitrate(media: $0)?.bitrate ?? .zero } }
        let before = rates()
        #expect(before.allSatisfy { $0 > .zero }, "\(before)")
        limit(0)
        #expect(rates() == [.zero] + before[1...] && requested.isEmpty)
        let paused = call.sender.sendingSummary(now: call.now)
        #expect(paused.layers.map(\.pauseReason) == [.requested, nil, nil])
        limit(100_000)
        #expect(rates().allSatisfy { $0 > .zero } && requested == [0])
    }

    @Test("A single stream to a server without simulcast follows a path that carries less than the further layers")
    func slowSingleStream() throws {
        let call = try Self.call(
            seed: 914, answering: "",
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(300)))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(20))
        let target = call.sender.targetBitrate(media: 0)
        let rate = try #require(target).bitrate
        #expect(rate > .kilobitsPerSecond(100) && rate < .kilobitsPerSecond(350), "\(rate)")
    }

    @Test("A better layer that has been silent sends padding before the packet of a lower one")
    func keepalive() throws {
        let call = try Self.call(seed: 907, answering: Self.lines("f;h;q"))
        // Otherwise frames wait in the queues of their layers.
        call.followsTargets = true
        call.run(for: .seconds(2))
        let sent = try packets(of: call)
        let sources = call.sender.localMedia.map(\.source)
        call.run(for: .seconds(1), sendsFrames: false)
        sent.value = []
        call.sendFrame(media: 2)
        call.sendFrame(media: 2)
        call.run(for: .milliseconds(100), sendsFrames: false)
        let media = sent.value.filter { sources.contains($0.source) }
        #expect(media.prefix(2).map(\.source) == Array(sources[0..<2]) && media.prefix(2).allSatisfy(\.isPadding))
        #expect(media.count(where: \.isPadding) == 2, "once for both frames")
        // A layer without bitrate is not kept alive, so that a server shows a lower one.
        call.sender.setDemand(.zero, media: 0, now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        sent.value = []
        call.sendFrame(media: 2)
        call.run(for: .milliseconds(100), sendsFrames: false)
        #expect(sent.value.filter(\.isPadding).map(\.source) == [sources[1]])
    }

    @Test("A large frame of a lower layer is sent at a rate for its viewers, and fills the queue of that layer alone")
    func largeFrame() throws {
        let call = try Self.call(
            seed: 921, answering: Self.lines("f;h;q"),
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(20_000)))
        call.followsTargets = true
        Self.setDemands(of: call)
        call.run(for: .seconds(10))
        call.followsTargets = false
        call.run(for: .seconds(1), sendsFrames: false)
        let sent = try packets(of: call)
        let sources = call.sender.localMedia.map(\.source)
        let begin = call.now
        for media in 0..<3 {
            for _ in 0..<10 { call.sendFrame(media: media) }
        }
        let targets = (0..<3).map { call.sender.targetBitrate(media: $0) }
        #expect(targets.map { $0?.isQueueFull } == [false, false, true])
        let paces = targets.map { $0?.pacingRate ?? .zero }
        #expect(paces[2] > .kilobitsPerSecond(300) && paces[2] < .kilobitsPerSecond(400), "\(paces)")
        call.run(for: .seconds(2), sendsFrames: false)
        let (target, waits) = (call.sender.targetBitrate(media: 2), call.sender.hasQueuedPackets)
        #expect(target?.isQueueFull == false && !waits)
        for (media, kilobits) in [(0, 3125), (1, 875), (2, 313)] {
            let own = sent.value.filter { $0.source == sources[media] }
            #expect(own.reduce(0) { $0 + $1.byteCount } > 40_000)
            let rate = DataRate.kilobitsPerSecond(kilobits)
            var byteCount = 0
            for packet in own {
                byteCount += packet.byteCount
                let limit = rate.bytes(in: packet.at - begin) * 11 / 10 + 8500
                #expect(byteCount <= limit, "\(media): \(byteCount) bytes after \(packet.at - begin)")
            }
        }
    }

    @Test(
        "The padding of a silent layer is sent again on request, over RTX with its number, or else the same bytes",
        arguments: [true, false])
    func lostKeepalive(hasRTX: Bool) throws {
        let repaired = "a=extmap:10 \(HeaderExtensionURI.repairedStreamIdentification.rawValue)\r\n"
        let lines = Self.lines("f;h;q").replacing(repaired, with: hasRTX ? repaired : "")
        let call = try Self.call(seed: 915, answering: lines)
        call.run(for: .seconds(2))
        call.run(for: .seconds(1), sendsFrames: false)
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let media = call.sender.localMedia[0]
        let sent = Box<[(protected: [UInt8], bytes: [UInt8], header: RTPHeader)]>([])
        let repeated = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtp else { return }
            // SRTP accepts each number once.
            if sent.value.contains(where: { $0.protected == bytes }) { return repeated.value.append(bytes) }
            guard (try? receiver.unprotectRTP(&bytes)) != nil, let header = try? RTPHeader(parsing: bytes.span.bytes)
            else { return }
            sent.value.append((datagram.bytes, bytes, header))
        }
        call.sendFrame(media: 2)
        call.run(for: .milliseconds(100), sendsFrames: false)
        let first = try #require(sent.value.first { $0.header.source.rawValue == media.source })
        let lost = first.header.sequenceNumber
        #expect(first.header.payloadRange.isEmpty && first.header.paddingByteCount == 32 && !first.header.marker)
        let nack = RTCPPacket.genericNACK(
            GenericNACK(sender: SynchronizationSource(7), media: SynchronizationSource(media.source), lost: [lost]))
        let now = call.now
        call.sender.receiveControl(nack.bytes.span.bytes, now: now)
        call.run(for: .milliseconds(100), sendsFrames: false)
        guard hasRTX else { return #expect(repeated.value == [first.protected]) }
        let repairs = sent.value.filter { packet in
            let payload = packet.header.payload(of: packet.bytes.span.bytes)
            return packet.header.source.rawValue == media.retransmissionSource
                && payload.byteCount == RetransmissionPayload.prefixByteCount
                && (try? RetransmissionPayload.originalSequenceNumber(of: payload)) == lost
        }
        #expect(repairs.count == 1 && repairs.allSatisfy { $0.header.paddingByteCount == 32 })
    }

    @Test("Later descriptions keep the layers, and can resume a paused one")
    func renegotiation() throws {
        let call = try Self.call(seed: 908, answering: Self.lines("f;~h;q"))
        call.run(for: .seconds(1))
        #expect(!call.isSending(1))
        let before = call.record.keyFrameRequestsOf[1]
        try call.renegotiate {
            $0.replacing("a=rtcp-mux\r\n", with: "a=rtcp-mux\r\n" + Self.lines("f;h"), maxReplacements: 1)
        }
        call.run(for: .seconds(1))
        #expect((0..<3).map { call.isSending($0) } == [true, true, false])
        #expect(before == nil && call.framesSent(media: 1) > 20)
        #expect(try call.makeOffer().media[0].simulcast()?.description == "send f;h;q")
    }

    @Test("A layer of which the peer accepts no codec is not sent")
    func noCodec() throws {
        let more = ["a=rid:f recv", "a=rid:h recv pt=1", "a=rid:q recv"]
        let call = try Self.call(seed: 911, answering: Self.lines("f;h;q", more))
        #expect((0..<3).map { call.agreement($0) } == [.agreed, .refused, .agreed])
    }

    @Test("All layers are held back, resumed and stopped together with the first, even if that is paused")
    func heldBack() throws {
        let call = try Self.call(seed: 912, answering: Self.lines("~f;h;q"))
        call.run(for: .seconds(1))
        for media in 0..<3 { call.sender.setHeldBack(true, media: media, now: call.now) }
        call.run(for: .milliseconds(100))
        #expect((0..<3).map { call.isSending($0) } == [false, false, false])
        for media in 0..<3 { call.sender.setHeldBack(false, media: media, now: call.now) }
        #expect((0..<3).map { call.isSending($0) } == [false, true, true])
        let summary = call.sender.sendingSummary(now: call.now)
        #expect(summary.video != nil && summary.codec == "VP8")
        for media in 0..<3 { call.sender.setSending(false, media: media, now: call.now) }
        #expect(try call.makeOffer().media[0].direction == .inactive)
    }

    @Test("An answer to the peer's offer has a single stream, of the first layer")
    func peersOffer() throws {
        let call = try Self.call(seed: 913, answering: Self.lines("f;h;q"))
        call.run(for: .seconds(1))
        let offer = try call.viewer.makeOffer()
        let answer = try call.sender.answer(offer: offer, now: call.now)
        #expect(try answer.media[0].simulcast() == nil && answer.media[0].rtpStreams().isEmpty)
        #expect(try answer.media[0].sources().first?.ssrc == call.sender.localMedia[0].source)
        #expect((0..<3).map { call.isSending($0) } == [true, false, false])
    }

    @Test("Layers count as media, of which a connection has a maximum")
    func limit() throws {
        var peer = try SimulatedCall.makeAnswerer(seed: 909)
        for _ in 0..<5 { _ = try peer.addMedia(Self.screen, layers: ["f", "h", "q"]) }
        #expect(throws: PeerConnectionError.tooManyMedia(limit: 16)) {
            try peer.addMedia(Self.camera, layers: ["f", "h"])
        }
        let index = try peer.addMedia(Self.camera)
        #expect(index == 15 && peer.layers(ofMedia: 4) == [3, 4, 5] && peer.layers(ofMedia: 15) == [15])
    }
}
