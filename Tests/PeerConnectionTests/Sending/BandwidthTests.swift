import RTCShareCongestionControl
import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The bandwidth that a sender uses, and the targets reported to its encoders.
@Suite struct BandwidthTests {
    private func makeCall(
        _ kilobits: Int, seed: UInt64, options: SimulatedCall.Options = SimulatedCall.Options()
    ) throws -> SimulatedCall {
        let call = try SimulatedCall(
            conditions: LinkConditions(
                delay: .milliseconds(25), rate: .kilobitsPerSecond(kilobits), queueTimeLimit: .milliseconds(300)),
            seed: seed, options: options)
        call.followsTargets = true
        return call
    }

    private func target(_ call: SimulatedCall) -> Int64 {
        call.target(0).bitsPerSecond / 1000
    }

    /// Returns the rate sent between two instants, including the headers of IP and UDP, in kbit/s.
    private func rate(_ call: SimulatedCall, from start: Instant, to end: Instant) -> Int64 {
        let bytes = call.record.sent.filter { $0.now >= start && $0.now < end }.reduce(0) { $0 + $1.size + 28 }
        return DataRate(byteCount: bytes, over: end - start).bitsPerSecond / 1000
    }

    @Test(
        "The estimate follows the path's capacity up, down and up again",
        arguments: [UInt64(901), 902, 903])
    func estimateFollowsPath(seed: UInt64) throws {
        let call = try makeCall(1500, seed: seed)
        call.run(for: .seconds(15))
        #expect(target(call) > 1000 && target(call) <= 1600)
        call.link.toRight.conditions.rate = .kilobitsPerSecond(500)
        call.run(for: .seconds(10))
        #expect(target(call) > 250 && target(call) <= 550)
        let start = call.now
        call.run(for: .seconds(5))
        #expect(rate(call, from: start, to: call.now) <= 520)
        call.link.toRight.conditions.rate = .kilobitsPerSecond(1500)
        call.run(for: .seconds(25))
        #expect(target(call) > 900 && target(call) <= 1600)
        #expect(call.record.failures.isEmpty)
    }

    @Test("Probes find the bandwidth of an uncongested path within two seconds")
    func widePathIsProbed() throws {
        let call = try makeCall(20_000, seed: 910)
        call.run(for: .seconds(3))
        #expect(target(call) > 2200)
        let report = call.sender.report(now: call.now)
        #expect(try #require(report.transport).probePacketsSent >= 10)
        #expect(try #require(report.candidatePairs.compactMap(\.availableOutgoingBitrate).first) > 2_200_000)
        #expect(try #require(report.outboundRTP[0]?.targetBitrate) > 2_200_000)
    }

    /// Each is a wakeup of whoever listens, and a room has thousands that do.
    @Test("Small increases are reported once a second, and finally in full")
    func smallRises() throws {
        let call = try makeCall(1500, seed: 912)
        call.run(for: .seconds(15))
        let told = call.record.targetsOf[0, default: []].filter { $0.target.bitrate > .zero }
        for (before, next) in zip(told, told.dropFirst()) where next.target.isQueueFull == before.target.isQueueFull {
            let ratio = Double(next.target.bitrate.bitsPerSecond) / Double(before.target.bitrate.bitsPerSecond)
            guard ratio > 1, ratio < 1.05 else { continue }
            #expect(next.now - before.now >= .seconds(1))
        }
        // What the path gives from here on is soon known to within a hundredth.
        call.link.toRight.conditions.rate = .kilobitsPerSecond(20_000)
        call.run(for: .seconds(30))
        let path = call.sender.bandwidth.estimator.target
        #expect(path > .kilobitsPerSecond(1500))
        #expect(Double(call.target(0).bitsPerSecond) > 0.92 * Double(path.bitsPerSecond))
    }

    @Test("The reported target never exceeds the maximum, whatever the path's capacity")
    func maximumHolds() throws {
        var options = SimulatedCall.Options()
        options.sender.maximumBitrate = .kilobitsPerSecond(800)
        let call = try makeCall(20_000, seed: 911, options: options)
        call.run(for: .seconds(10))
        #expect(target(call) > 650 && target(call) <= 800)
        let start = call.now
        call.run(for: .seconds(5))
        #expect(rate(call, from: start, to: call.now) <= 840)
    }

    private static func withoutTransportFeedback(_ answer: String) -> String {
        answer.split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("transport-wide-cc") && !$0.contains("transport-cc") }.joined(separator: "\r\n")
    }

    /// GStreamer postpones its reports while it requests packets.
    @Test(
        "Without transport-wide feedback and recent reports, requests for packets lower the target",
        arguments: [true, false])
    func requestsAlone(isOn: Bool) throws {
        var options = SimulatedCall.Options()
        options.editAnswer = Self.withoutTransportFeedback
        if !isOn { options.sender.congestionDeviations.remove(.requestedLoss) }
        let call = try makeCall(20_000, seed: 919, options: options)
        call.run(for: .seconds(10))
        let before = target(call)
        let source = SynchronizationSource(call.sender.localMedia[0].source)
        let lost = Box<[SequenceNumber]>([])
        var count = 0
        call.loses = { datagram, end in
            let kind = DatagramKind(datagram.bytes.span.bytes)
            guard end == .left else { return kind == .rtcp }
            guard kind == .rtp, let header = try? RTPHeader(parsing: datagram.bytes.span.bytes),
                header.source == source
            else { return false }
            count += 1
            guard count.isMultiple(of: 3) else { return false }
            lost.value.append(header.sequenceNumber)
            return true
        }
        for _ in 0..<50 {
            call.run(for: .milliseconds(100))
            var bytes: [UInt8] = []
            RTCPPacket.genericNACK(
                GenericNACK(sender: SynchronizationSource(7), media: source, lost: lost.value)
            ).append(to: &bytes)
            lost.value = []
            let now = call.now
            call.sender.receiveControl(bytes.span.bytes, now: now)
        }
        #expect((target(call) < before / 2) == isOn)
        #expect(call.record.failures.isEmpty)
    }

    /// aiortc requests all missing packets with each new gap, many times within a round trip.
    @Test("Without transport-wide feedback, a packet is not resent within the round-trip time of the latest report")
    func repeatedRequestsBehindQueue() throws {
        var options = SimulatedCall.Options()
        options.editAnswer = Self.withoutTransportFeedback
        let call = try makeCall(20_000, seed: 920, options: options)
        call.run(for: .seconds(5))
        call.link.toRight.conditions.delay = .milliseconds(600)
        call.run(for: .seconds(3))
        let smoothed = call.sender.roundTripTime
        #expect(try #require(smoothed) < .milliseconds(350))
        let stream = try #require(call.sender.outbound[0].stream)
        let lost = stream.sequenceNumber.advanced(by: -1)
        let before = try #require(call.sender.outbound[0].video?.history.packetsRetransmitted)
        var counts: [Int] = []
        for _ in 0..<3 {
            var bytes: [UInt8] = []
            RTCPPacket.genericNACK(
                GenericNACK(sender: SynchronizationSource(7), media: stream.source, lost: [lost])
            ).append(to: &bytes)
            let now = call.now
            call.sender.receiveControl(bytes.span.bytes, now: now)
            call.run(for: .milliseconds(350))
            counts.append(try #require(call.sender.outbound[0].video?.history.packetsRetransmitted) - before)
        }
        #expect(counts == [1, 1, 2])
        #expect(call.record.failures.isEmpty)
    }

    @Test("The estimate follows receiver reports when there is no transport-wide feedback")
    func receiverReportsAlone() throws {
        var options = SimulatedCall.Options()
        options.editAnswer = Self.withoutTransportFeedback
        let call = try makeCall(20_000, seed: 912, options: options)
        call.run(for: .seconds(20))
        let clean = target(call)
        #expect(clean > 400)
        call.link.toRight.conditions.loss = 0.2
        call.run(for: .seconds(20))
        #expect(target(call) < clean * 8 / 10)
        #expect(call.sender.report(now: call.now).transport?.probePacketsSent == 0)
        #expect(call.record.failures.isEmpty)
    }

    @Test("The receiver's estimate lowers the target, while it is sent, when there is no transport-wide feedback")
    func receiverEstimate()
        throws
    {
        var options = SimulatedCall.Options()
        options.editAnswer = Self.withoutTransportFeedback
        let call = try makeCall(20_000, seed: 917, options: options)
        call.run(for: .seconds(10))
        #expect(target(call) > 250)
        var bytes: [UInt8] = []
        RTCPPacket.receiverEstimatedMaximumBitrate(
            ReceiverEstimatedMaximumBitrate(
                sender: SynchronizationSource(7), bitrate: .kilobitsPerSecond(150),
                sources: [SynchronizationSource(call.sender.localMedia[0].source)])
        ).append(to: &bytes)
        let now = call.now
        call.sender.receiveControl(bytes.span.bytes, now: now)
        call.run(for: .seconds(1))
        #expect(target(call) > 50 && target(call) < 150)
        call.run(for: .seconds(40))
        #expect(target(call) > 250)
        #expect(call.record.failures.isEmpty)
    }

    @Test("The estimate resumes from its last value after an interruption, from the start rate on a new path")
    func afterInterruption() throws {
        let call = try makeCall(20_000, seed: 918)
        call.run(for: .seconds(10))
        let before = call.sender.bandwidth.estimator.estimate
        #expect(before > .kilobitsPerSecond(2000))
        call.isCut = true
        call.run(for: .seconds(8), sendsFrames: false)
        #expect(call.record.pathEvents.map(\.event) == [.disconnected])
        #expect(call.sender.bandwidth.estimator.estimate == before)
        call.isCut = false
        call.run(for: .seconds(8))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .reconnected])
        #expect(target(call) > 2000)
        let now = call.now
        call.sender.bandwidth.estimator.pathChanged(now: now)
        #expect(call.sender.bandwidth.estimator.estimate == PeerConnection.Configuration().startBitrate)
        call.run(for: .seconds(4))
        #expect(target(call) > 2000)
        #expect(call.record.failures.isEmpty)
    }

    @Test("A peer's silence and its end are reported within a second, and packet loss is not silence")
    func silence() throws {
        let call = try makeCall(3000, seed: 911)
        call.link.toRight.conditions.loss = 0.1
        call.link.toLeft.conditions.loss = 0.1
        call.run(for: .seconds(10))
        // What rests leaves nothing to be answered.
        call.run(for: .seconds(5), sendsFrames: false)
        call.run(for: .seconds(5))
        #expect(call.record.silences.isEmpty)
        let cut = call.now
        call.isCut = true
        call.run(for: .seconds(2))
        call.isCut = false
        call.run(for: .seconds(2))
        #expect(call.record.silences.map(\.isSilent) == [true, false])
        #expect(call.record.silences.allSatisfy { $0.now < cut.advanced(by: .seconds($0.isSilent ? 1 : 3)) })
    }

    @Test("A peer's reports end its silence when no media is sent to it")
    func silenceAtRest() throws {
        let call = try makeCall(3000, seed: 912)
        call.run(for: .seconds(5))
        call.isCut = true
        call.run(for: .seconds(1))
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.record.silences.map(\.isSilent) == [true])
        call.isCut = false
        let sent = call.record.sent.count
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.record.silences.map(\.isSilent) == [true, false])
        // Checks and reports alone.
        #expect(call.record.sent[sent...].allSatisfy { $0.size < 300 })
    }

    @Test("Feedback about a previous path does not count for the present one", arguments: [false, true])
    func feedbackOfAnotherPath(changes: Bool) {
        var bandwidth = BandwidthControl(PeerConnection.Configuration())
        var now = Instant(nanoseconds: 1_000_000_000)
        let first = bandwidth.transportSequenceNumber
        for _ in 0..<40 {
            now = now.advanced(by: .milliseconds(5))
            let number = bandwidth.transportSequenceNumber
            bandwidth.transportSequenceNumber = number.next
            bandwidth.packetSent(before: number, size: 1200, now: now)
        }
        if changes { bandwidth.pathChanged(isStream: false, now: now) }
        bandwidth.receive(
            TransportFeedback(
                sender: SynchronizationSource(1), media: SynchronizationSource(2), baseSequenceNumber: first,
                referenceTime: 0, feedbackPacketCount: 0, deltas: [Int16?](repeating: nil, count: 40)),
            now: now.advanced(by: .milliseconds(50)))
        #expect(bandwidth.sentPackets.packetsLost == (changes ? 0 : 40))
        #expect(bandwidth.sentPackets.packetsInFlight == 0)
    }

    @Test("The receiver's estimate also limits what TCP carries")
    func receiversEstimateOverTCP() {
        var bandwidth = BandwidthControl(PeerConnection.Configuration())
        let now = Instant(nanoseconds: 1_000_000_000)
        bandwidth.pathChanged(isStream: true, now: now)
        let before = bandwidth.target
        let limit = DataRate.kilobitsPerSecond(200)
        bandwidth.receive(
            ReceiverEstimatedMaximumBitrate(sender: SynchronizationSource(1), bitrate: limit, sources: []), now: now)
        #expect(before > limit && bandwidth.target == limit && bandwidth.limitation == .remote)
        #expect(bandwidth.pacingRate == limit * BandwidthEstimator.pacingFactor)
    }

    @Test("A longer round trip is reported even when the rate stays the same")
    func longerPath() throws {
        var options = SimulatedCall.Options()
        options.sender.maximumBitrate = .kilobitsPerSecond(300)
        let call = try makeCall(20_000, seed: 919, options: options)
        call.run(for: .seconds(10))
        let told = call.record.targetsOf[0, default: []].count
        call.link.toRight.conditions.delay = .milliseconds(100)
        call.run(for: .seconds(10))
        let targets = call.record.targetsOf[0, default: []].dropFirst(told)
        let longest = targets.compactMap(\.target.roundTripTime).max()
        #expect(try #require(longest) > .milliseconds(60))
        for (before, next) in zip(targets, targets.dropFirst()) where before.target.bitrate == next.target.bitrate {
            #expect(next.now - before.now >= .seconds(1))
        }
    }

    @Test("Audio gets its bitrate first, then screen content, then the camera")
    func priorities() throws {
        var options = SimulatedCall.Options()
        options.media = [
            .video(streamID: "alice", isContent: false), .video(streamID: "alice#content", isContent: true),
            .audio(streamID: "alice#content", isContent: true),
        ]
        let call = try makeCall(900, seed: 913, options: options)
        call.sender.setDemand(
            BitrateDemand(minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(2000), priority: .medium),
            media: 1,
            now: call.now)
        call.run(for: .seconds(15))
        let camera = call.target(0)
        let content = call.target(1)
        let sound = call.target(2)
        #expect(sound == .kilobitsPerSecond(128))
        #expect(content > .kilobitsPerSecond(250))
        #expect(camera <= .kilobitsPerSecond(30))
        call.sender.setDemand(.zero, media: 1, now: call.now)
        call.run(for: .milliseconds(10))
        #expect(call.target(1) == .zero)
        #expect(call.target(0) > .kilobitsPerSecond(250))
    }

    @Test("The target reports a full queue when an encoder produces too much, and its end")
    func fullQueue() throws {
        let call = try SimulatedCall(
            conditions: LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(400)), seed: 914)
        call.run(for: .seconds(4))
        #expect(call.record.targetsOf[0, default: []].contains { $0.target.isQueueFull })
        call.run(for: .seconds(4), sendsFrames: false)
        let isFull = call.sender.targetBitrate(media: 0)?.isQueueFull
        #expect(isFull == false)
    }

    @Test("Messages from a peer without the keys change only counters")
    func peerWithoutKeys() throws {
        let call = try makeCall(2000, seed: 915)
        call.run(for: .seconds(4))
        let before = call.target(0)
        let refused = call.sender.counts.packetsRefused
        var random = SeededGenerator(seed: 5)
        var forged: [UInt8] = []
        RTCPPacket.receiverEstimatedMaximumBitrate(
            ReceiverEstimatedMaximumBitrate(
                sender: SynchronizationSource(7), bitrate: .kilobitsPerSecond(1),
                sources: [SynchronizationSource(call.sender.localMedia[0].source)])
        ).append(to: &forged)
        let datagram = Datagram(
            source: SimulatedCall.viewerAddress, destination: SimulatedCall.senderAddress, bytes: forged)
        for _ in 0..<200 {
            call.inject(forged, like: datagram, to: .left)
            let tail = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
            call.inject(forged + tail, like: datagram, to: .left)
        }
        #expect(call.sender.counts.packetsRefused == refused + 400)
        #expect(call.target(0) == before)
    }

    @Test("Absurd feedback from a peer with the keys does not trap")
    func senselessFeedback() throws {
        let call = try makeCall(2000, seed: 916)
        call.run(for: .seconds(2))
        var random = SeededGenerator(seed: 6)
        let source = SynchronizationSource(call.sender.localMedia[0].source)
        for _ in 0..<3000 {
            var packets: [RTCPPacket] = []
            packets.append(
                .transportFeedback(
                    TransportFeedback(
                        sender: SynchronizationSource(7), media: source,
                        baseSequenceNumber: TransportSequenceNumber(UInt16.random(in: 0...UInt16.max, using: &random)),
                        referenceTime: Int32.random(in: -0x80_0000...0x7F_FFFF, using: &random),
                        feedbackPacketCount: UInt8.random(in: 0...255, using: &random),
                        deltas: (0..<Int.random(in: 1...60, using: &random)).map { _ in
                            Bool.random(using: &random) ? nil : Int16.random(in: Int16.min...Int16.max, using: &random)
                        })))
            packets.append(
                .receiverReport(
                    ReceiverReport(
                        source: SynchronizationSource(7),
                        reportBlocks: [
                            ReportBlock(
                                source: source, fractionLost: UInt8.random(in: 0...255, using: &random),
                                cumulativeLost: Int32.random(in: -0x80_0000...0x7F_FFFF, using: &random),
                                extendedHighestSequenceNumber: UInt32.random(in: 0...UInt32.max, using: &random),
                                jitter: UInt32.random(in: 0...UInt32.max, using: &random),
                                lastSenderReport: NTPShortTime(UInt32.random(in: 0...UInt32.max, using: &random)),
                                delaySinceLastSenderReport: NTPShortTime(
                                    UInt32.random(in: 0...UInt32.max, using: &random)))
                        ])))
            packets.append(
                .receiverEstimatedMaximumBitrate(
                    ReceiverEstimatedMaximumBitrate(
                        sender: SynchronizationSource(7),
                        bitrate: .bitsPerSecond([Int64.max, 0, 1, 1_000_000].randomElement(using: &random) ?? 0),
                        sources: [source])))
            for packet in packets {
                var bytes: [UInt8] = []
                packet.append(to: &bytes)
                call.sender.receiveControl(bytes.span.bytes, now: call.now)
            }
            call.run(for: .milliseconds(3))
        }
        #expect(call.target(0) <= .kilobitsPerSecond(2500))
        // Honest feedback has the last word.
        call.run(for: .seconds(40))
        #expect(target(call) > 300)
        #expect(call.record.failures.isEmpty)
    }
}

extension SimulatedCall {
    fileprivate func target(_ media: Int) -> DataRate { sender.targetBitrate(media: media)?.bitrate ?? .zero }
}
