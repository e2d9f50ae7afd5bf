import RTCShareCongestionControl
import RTCShareRTP
import RTCShareSDP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Pictures and sound, of an attendee and of what the attendee shares, in one bundle.
@Suite struct SoundCallTests {
    static let four: [LocalIdentity.MediaKind] = [
        .video(streamID: "alice#content", isContent: true),
        .audio(streamID: "alice#content", isContent: true),
        .audio(streamID: "alice", isContent: false),
        .video(streamID: "alice", isContent: false),
    ]

    static func makeCall(
        seed: UInt64, conditions: LinkConditions = WholeCallTests.lossless, media: [LocalIdentity.MediaKind] = four
    ) throws -> SimulatedCall {
        var options = SimulatedCall.Options()
        options.media = media
        return try SimulatedCall(conditions: conditions, seed: seed, options: options)
    }

    @Test("Four media arrive, each at its own receiver")
    func fourMediaArrive() throws {
        let call = try Self.makeCall(seed: 501)
        call.run(for: .seconds(4))
        call.run(for: .milliseconds(500), sendsFrames: false)
        let remote = call.viewer.remoteMedia
        #expect(remote.map(\.isVideo) == [true, false, false, true])
        #expect(remote.map(\.streamID) == ["alice#content", "alice#content", "alice", "alice"])
        #expect(remote.map(\.isContent) == [true, true, false, false])
        #expect(remote.map(\.trackID) == call.sender.localMedia.map(\.trackID))
        #expect(remote.allSatisfy { $0.isActive })
        #expect(remote[1].opus?.isStereo == true && remote[2].opus?.usesDTX == true && remote[0].opus == nil)
        #expect(call.record.framesOf[0]?.count == call.framesSent(media: 0))
        #expect(call.record.framesOf[3]?.count == call.framesSent(media: 3))
        for receiver in 1...2 {
            let sound = try #require(call.record.soundOf[receiver])
            #expect(sound.count > 150)
            #expect(sound.allSatisfy { $0.payload[1] == UInt8(receiver) && $0.level?.level == 20 })
            #expect(zip(sound, sound.dropFirst()).allSatisfy { $0.timestamp + 960 == $1.timestamp })
            #expect(sound.first?.marker == true && sound.last?.marker == false)
        }
        #expect(call.record.framesOf.keys.sorted() == [0, 3] && call.record.soundOf.keys.sorted() == [1, 2])
        #expect(call.record.activityOf.keys.sorted() == [0, 1, 2, 3])
        #expect(call.record.failures.isEmpty)
    }

    @Test("Video is repaired on a lossy, reordering link, and each audio packet is delivered once, in order of arrival")
    func disturbedLink() throws {
        let call = try Self.makeCall(seed: 502, conditions: WholeCallTests.disturbed(loss: 0.05))
        call.run(for: .seconds(10))
        call.run(for: .seconds(2), sendsFrames: false)
        // A repair that is lost again and again comes too late, and costs one media the pictures until its next key frame.
        let arrived = [0, 3].reduce(0) { $0 + (call.record.framesOf[$1]?.count ?? 0) }
        let sent = [0, 3].reduce(0) { $0 + call.framesSent(media: $1) }
        #expect(Double(arrived) >= Double(sent) * 0.98, "\(arrived) of \(sent)")
        let sound = try #require(call.record.soundOf[1])
        #expect(Set(sound.map(\.sequenceNumber)).count == sound.count)
        let losses = try #require(call.record.lossReportsOf[1])
        #expect(losses.count > 5 && losses.contains { $0 > 0 } && losses.allSatisfy { (0...1).contains($0) })
        #expect(call.record.lossReportsOf[0] == nil)
    }

    @Test("Audio that is sent after a key frame leaves before it")
    func soundOvertakesKeyFrame() throws {
        let call = try Self.makeCall(seed: 503)
        call.run(for: .seconds(2), sendsFrames: false)
        let keys = try #require(call.viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let order = Box<[UInt32]>([])
        call.tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtp, (try? receiver.unprotectRTP(&bytes)) != nil,
                let header = try? RTPHeader(parsing: bytes.span.bytes)
            else { return }
            order.value.append(header.source.rawValue)
        }
        call.sendFrame(media: 0)
        for media in [1, 2] { call.sender.send(call.soundFrame(marking: 0), media: media, now: call.now) }
        call.run(for: .seconds(1), sendsFrames: false)
        let sources = call.sender.localMedia.map(\.source)
        #expect(order.value.prefix(2) == [sources[1], sources[2]])
        #expect(order.value.dropFirst(2).allSatisfy { $0 == sources[0] })
        #expect(order.value.count > 20)
    }

    @Test("Video may be delayed to match audio, and is shown at once when the audio has stopped")
    func picturesWaitForSound() throws {
        let call = try Self.makeCall(seed: 509, media: Array(Self.four[0...1]))
        call.run(for: .seconds(1), sendsFrames: false)
        let delays = try call.playoutDelays()
        call.run(for: .seconds(1))
        call.sender.setSending(false, media: 1, now: call.now)
        call.run(for: .seconds(1))
        #expect(call.record.frames.filter(\.isKeyFrame).count == 1, "no key frame is needed to tell it")
        #expect(
            delays.value == [
                PlayoutDelay(minimum: .zero, maximum: .seconds(10)), PlayoutDelay(minimum: .zero, maximum: .zero),
            ])
    }

    @Test("Audio and video captured together have equal capture times")
    func synchronization() throws {
        let call = try Self.makeCall(seed: 504)
        call.run(for: .seconds(4))
        let frame = try #require(call.record.framesOf[0]?.last)
        let sound = try #require(call.record.soundOf[1]?.last)
        // Both count from the capture on one clock; the sound's first sample is 20 ms before the instant it is given at.
        let frameTime = try #require(frame.captureTime)
        let soundTime = try #require(sound.captureTime)
        let difference = frameTime - soundTime
        #expect(abs(difference.milliseconds) < 60, "\(difference)")
        for packets in [call.record.soundOf[1], call.record.soundOf[2]] {
            for packet in packets ?? [] {
                guard let time = packet.captureTime else { continue }
                // 20 ms of sound, 20 ms of path.
                let age = Duration.nanoseconds(packet.arrival.nanoseconds) - time
                #expect(abs(age.milliseconds - 40) < 3, "\(age)")
            }
        }
    }

    @Test("A key frame is requested from the sender of each video")
    func ownKeyFrames() throws {
        let call = try Self.makeCall(seed: 505)
        call.run(for: .seconds(2))
        call.record.keyFrameRequestsOf = [:]
        call.viewer.requestKeyFrame(ofReceiver: 3, now: call.now)
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequestsOf == [3: 1])
        call.viewer.requestKeyFrame(ofReceiver: 1, now: call.now)
        call.viewer.requestKeyFrame(ofReceiver: 99, now: call.now)
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequestsOf == [3: 1])
    }

    @Test("Frames for unknown media, or media of the other kind, are counted and dropped")
    func wrongMedia() throws {
        let call = try Self.makeCall(seed: 506)
        call.sender.send(call.soundFrame(marking: 0), media: 1, now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        call.sender.send(call.soundFrame(marking: 0), media: 0, now: call.now)
        call.sender.send(call.soundFrame(marking: 0), media: 4, now: call.now)
        call.sender.send(call.soundFrame(marking: 0), media: -1, now: call.now)
        #expect(call.sender.counts.framesDroppedBeforeConnection == 4)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.soundOf.isEmpty)
    }

    @Test("The statistics of audio have W3C's names on both ends")
    func soundStatistics() throws {
        let call = try Self.makeCall(seed: 507)
        call.run(for: .seconds(4))
        let sent = call.sender.report(now: call.now)
        let seen = call.viewer.report(now: call.now)
        let outbound = try #require(sent.outboundRTP[1])
        #expect(outbound.kind == .audio && outbound.id == "OT1")
        #expect(outbound.sent.packetsSent > 150)
        #expect(outbound.video == nil && outbound.rtxSsrc == nil)
        let source = try #require(sent.mediaSources[1])
        #expect(source.id == outbound.mediaSourceId)
        #expect(abs(try #require(source.audio?.audioLevel) - 0.1) < 0.001)
        #expect(abs(try #require(source.audio?.totalSamplesDuration.seconds) - 3.8) < 0.3)
        #expect(source.trackIdentifier == call.sender.localMedia[1].trackID)
        let codec = try #require(sent.codecs.first { $0.id == outbound.codecId })
        #expect(codec.mimeType == "audio/opus")
        #expect(codec.clockRate == 48_000 && codec.channels == 2)
        #expect(codec.sdpFmtpLine?.contains("stereo=1") == true)
        let remote = try #require(sent.remoteInboundRTP[1])
        #expect(remote.id == outbound.remoteId && remote.kind == .audio)
        let inbound = try #require(seen.inboundRTP[1])
        let received = try #require(inbound.audio)
        #expect(inbound.kind == .audio && received.packetsLost == 0)
        #expect(received.packetsReceived > 150)
        #expect(abs(try #require(received.audioLevel) - 0.1) < 0.001)
        let reported = try #require(seen.remoteOutboundRTP[1])
        #expect(reported.id == inbound.remoteId)
        #expect(reported.packetsSent > 100)
        for objects in [sent.objects, seen.objects] { #expect(Set(objects.map(\.id)).count == objects.count) }
    }

    @Test("More media than a connection supports are rejected")
    func tooManyMedia() throws {
        var random = SeededGenerator(seed: 508)
        let kinds = [LocalIdentity.MediaKind](repeating: Self.four[2], count: PeerConnection.maximumMedia)
        let identity = try LocalIdentity(media: kinds, unixTime: 1_700_000_000, random: &random)
        var peer = try PeerConnection(
            as: .offerer, identity: identity, configuration: PeerConnection.Configuration(), random: random)
        #expect(throws: PeerConnectionError.tooManyMedia(limit: 16)) {
            _ = try peer.addMedia(Self.four[0])
        }
        let offer = try peer.makeOffer()
        #expect(offer.media.count == 16)
        let more = try LocalIdentity(media: kinds + [Self.four[0]], unixTime: 1_700_000_000, random: &random)
        #expect(throws: PeerConnectionError.tooManyMedia(limit: 16)) {
            _ = try PeerConnection(
                as: .offerer, identity: more, configuration: PeerConnection.Configuration(), random: random)
        }
    }
}
