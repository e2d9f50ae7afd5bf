@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Received media")
struct InboundMediaTests {
    private static let vp8 = PayloadType(masking: 96)
    private static let camera = SynchronizationSource(0xCA3E)
    private static let cameraRTX = SynchronizationSource(0xCA3F)
    private static let local = SynchronizationSource(1)

    private func sound(
        ssrc: UInt32? = TestPacket.sound.rawValue, payloadType: UInt8 = 109,
        direction: DirectionAttribute = .receiveOnly
    ) -> NegotiatedMedia {
        var remote = MediaSources.none
        remote.ssrc = ssrc
        return NegotiatedMedia(
            mid: "snd", direction: direction,
            codecs: [
                NegotiatedCodec(
                    map: RTPMapAttribute(
                        payloadType: payloadType, encodingName: "OPUS", clockRate: 48_000, parameters: "2"),
                    feedback: [.transportWide])
            ],
            extensionIDs: [.mid: 1, .audioLevel: 7], hasReducedSizeRTCP: true, local: .none,
            remote: remote)
    }

    private func video(
        ssrc: UInt32? = camera.rawValue, payloadType: UInt8 = 96, direction: DirectionAttribute = .receiveOnly
    ) -> NegotiatedMedia {
        var remote = MediaSources.none
        remote.ssrc = ssrc
        remote.rtxSSRC = ssrc.map { _ in Self.cameraRTX.rawValue }
        return NegotiatedMedia(
            mid: "cam", direction: direction,
            codecs: [
                NegotiatedCodec(
                    map: RTPMapAttribute(payloadType: payloadType, encodingName: "VP8", clockRate: 90_000),
                    rtxPayloadType: payloadType + 1, format: .vp8, feedback: [.nack, .pictureLoss])
            ],
            extensionIDs: [.mid: 1],
            hasReducedSizeRTCP: true, local: .none, remote: remote)
    }

    /// A key frame of one packet.
    private func keyFrame(_ number: UInt16, timestamp: UInt32, payloadType: PayloadType = vp8) -> TestPacket {
        TestPacket(
            number: number, timestamp: timestamp, source: Self.camera, payloadType: payloadType, marker: true,
            payload: [0x10, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02, 9, 9])
    }

    private func give(_ packet: TestPacket, to media: inout InboundMedia, at milliseconds: Int) throws -> Bool {
        try packet.withPacket { header, bytes in
            media.receive(header, extensions: packet.extensions, in: bytes, now: at(milliseconds: milliseconds))
        }
    }

    private func takes(_ media: InboundMedia, _ packet: TestPacket, mid: String?) throws -> Bool {
        try packet.withHeader { header, _ in media.takes(header, mid: mid) }
    }

    @Test("Audio and video of the same instant have equal capture times")
    func captureTimes() throws {
        var heard = InboundMedia(sound(), localSource: Self.local)
        var seen = InboundMedia(video(), localSource: Self.local)
        #expect(heard.isAudio && !seen.isAudio)
        // The sound's clock read 1000 at the time of the epoch, the video's 5000 four milliseconds later.
        let epoch = Duration.seconds(1_700_000_000)
        heard.receive(report(at: epoch, timestamp: 1000), now: at(milliseconds: 30))
        seen.receive(
            report(of: Self.camera, at: epoch + .milliseconds(4), timestamp: 5000), now: at(milliseconds: 35))
        for second in 1...3 {
            let flash = keyFrame(UInt16(second), timestamp: UInt32(5000 + second * 90_000 - 360))
            let beep = TestPacket(number: UInt16(second), timestamp: UInt32(1000 + second * 48_000))
            #expect(try give(beep, to: &heard, at: second * 1000 + 40))
            #expect(try give(flash, to: &seen, at: second * 1000 + 90))
            let polledHeardat = heard.pollSound()?.captureTime
            let heardAt = try #require(polledHeardat)
            let polledSeenat = seen.pollFrame()?.captureTime
            let seenAt = try #require(polledSeenat)
            #expect(heardAt == epoch + .seconds(second))
            #expect(abs((heardAt - seenAt).milliseconds) < 1)
        }
        #expect(heard.pollFrame() == nil && seen.pollSound() == nil)
    }

    @Test("A frame has no capture time before a report")
    func noReport() throws {
        var seen = InboundMedia(video(), localSource: Self.local)
        #expect(try give(keyFrame(1, timestamp: 0), to: &seen, at: 0))
        let polledFrame = seen.pollFrame()
        let frame = try #require(polledFrame)
        #expect(frame.captureTime == nil)
    }

    @Test("The source is announced, or known from the first packet of its payload type")
    func source() throws {
        #expect(InboundMedia(sound(), localSource: Self.local).source == TestPacket.sound)
        var media = InboundMedia(sound(ssrc: nil), localSource: Self.local)
        #expect(media.source == nil)
        let packet = TestPacket(number: 1, timestamp: 0)
        #expect(try takes(media, packet, mid: nil))
        #expect(try takes(media, packet, mid: "snd"))
        #expect(try !takes(media, packet, mid: "cam"))
        #expect(try !give(keyFrame(1, timestamp: 0), to: &media, at: 0))
        #expect(try give(packet, to: &media, at: 0))
        #expect(media.source == TestPacket.sound && media.isSource(TestPacket.sound))
        var seen = InboundMedia(video(), localSource: Self.local)
        #expect(seen.isSource(Self.cameraRTX) && !seen.isSource(TestPacket.sound))
        let foreign = TestPacket(
            number: 1, timestamp: 0, source: SynchronizationSource(4), payloadType: Self.vp8, payload: [0x10, 0x11])
        #expect(try !give(foreign, to: &seen, at: 0))
    }

    @Test("A new source replaces an unannounced one, at once after a goodbye, and continues its timeline")
    func sourceChange() throws {
        var media = InboundMedia(sound(ssrc: nil), localSource: Self.local)
        #expect(try give(TestPacket(number: 9, timestamp: 960), to: &media, at: 0))
        let polledOld = media.pollSound()
        let old = try #require(polledOld)
        var other = TestPacket(number: 500, timestamp: 77, source: SynchronizationSource(0xB))
        #expect(try !give(other, to: &media, at: 499))
        media.receiveGoodbye()
        #expect(try give(other, to: &media, at: 1000))
        #expect(media.source == SynchronizationSource(0xB) && !media.hasEnded)
        let polledNew = media.pollSound()
        let new = try #require(polledNew)
        #expect(new.sequenceNumber == old.sequenceNumber + 1)
        #expect(new.timestamp == old.timestamp + 48_000)
        other.source = SynchronizationSource(0xC)
        #expect(try !give(other, to: &media, at: 1499))
        #expect(try give(other, to: &media, at: 1500))
        #expect(media.audio?.statistics.packetsReceived == 1)
    }

    @Test("A new source whose packets name the section replaces an announced one that is silent or gone")
    func announcedSourceChange() throws {
        var media = InboundMedia(sound(), localSource: Self.local)
        #expect(try give(TestPacket(number: 9, timestamp: 960), to: &media, at: 0))
        let nameless = TestPacket(number: 500, timestamp: 77, source: SynchronizationSource(0xB))
        var other = nameless
        other.extensions.mediaIdentification = "snd"
        #expect(try !give(other, to: &media, at: 2499))
        #expect(try !give(nameless, to: &media, at: 2500))
        #expect(try give(other, to: &media, at: 2500))
        #expect(media.source == SynchronizationSource(0xB))
        // A later description that still names the former one does not bring it back.
        media.update(sound())
        #expect(media.source == SynchronizationSource(0xB))
        media.update(sound(ssrc: 0xC))
        #expect(media.source == SynchronizationSource(0xC))
    }

    @Test("Two alternating sources do not replace each other until one is silent")
    func alternatingSources() throws {
        var media = InboundMedia(video(ssrc: nil), localSource: Self.local)
        var second = keyFrame(1, timestamp: 0)
        second.source = SynchronizationSource(0xB)
        #expect(try give(keyFrame(1, timestamp: 0), to: &media, at: 0))
        var taken: [Bool] = []
        for step in 0..<50 {
            second.number = UInt16(step)
            _ = try give(keyFrame(UInt16(step + 2), timestamp: UInt32(step) * 3000), to: &media, at: 480 + step * 40)
            taken.append(try give(second, to: &media, at: 500 + step * 40))
        }
        #expect(taken.allSatisfy { $0 } && media.video?.statistics.packetsReceived == 50)
        #expect(try !give(keyFrame(99, timestamp: 0), to: &media, at: 500 + 49 * 40 + 499))
        #expect(try give(keyFrame(99, timestamp: 0), to: &media, at: 500 + 49 * 40 + 500))
        #expect(media.source == Self.camera)
    }

    @Test("Unannounced retransmissions are recognized by their payload type and follow their source")
    func unannouncedRetransmissions() throws {
        func retransmission(_ number: UInt8, of frame: TestPacket, from source: UInt32) -> TestPacket {
            var packet = frame
            packet.payload = [0, number] + packet.payload
            packet.source = SynchronizationSource(source)
            packet.payloadType = PayloadType(masking: 97)
            return packet
        }
        var media = InboundMedia(video(ssrc: nil), localSource: Self.local)
        // Before its media a retransmission is of no stream.
        #expect(try !give(retransmission(1, of: keyFrame(1, timestamp: 0), from: 0xF), to: &media, at: 0))
        #expect(try give(keyFrame(1, timestamp: 0), to: &media, at: 0))
        let missing = keyFrame(2, timestamp: 3000)
        #expect(try give(retransmission(2, of: missing, from: 0xF), to: &media, at: 50))
        #expect(media.video?.statistics.retransmittedPacketsReceived == 1 && media.source == Self.camera)
        var frames = 0
        while media.pollFrame() != nil { frames += 1 }
        #expect(frames == 2)
        // Those of a source before are not those of the next.
        var next = keyFrame(3, timestamp: 0)
        next.source = SynchronizationSource(0xB)
        #expect(try give(next, to: &media, at: 600))
        #expect(try !give(retransmission(4, of: missing, from: 0xF), to: &media, at: 610))
        #expect(try give(retransmission(4, of: missing, from: 0x1F), to: &media, at: 620))
        #expect(media.video?.statistics.retransmittedPacketsReceived == 1)
        // What a description names holds against a packet's payload type.
        var announced = InboundMedia(video(), localSource: Self.local)
        #expect(try !give(retransmission(2, of: missing, from: 0xF), to: &announced, at: 0))
    }

    @Test("Another description changes payload types, while numbers and counts continue")
    func update() throws {
        var heard = InboundMedia(sound(), localSource: Self.local)
        #expect(try give(TestPacket(number: 65_535, timestamp: 0), to: &heard, at: 0))
        heard.update(sound(payloadType: 111))
        var packet = TestPacket(number: 0, timestamp: 960)
        #expect(try give(packet, to: &heard, at: 20))
        packet = TestPacket(number: 1, timestamp: 1920, payloadType: PayloadType(masking: 111))
        #expect(try give(packet, to: &heard, at: 40))
        var numbers: [Int64] = []
        while let packet = heard.pollSound() { numbers.append(packet.sequenceNumber) }
        #expect(numbers == [65_535, 65_537])
        #expect(heard.audio?.statistics.packetsReceived == 3)
        #expect(heard.audio?.statistics.packetsRejected == 1)

        var seen = InboundMedia(video(), localSource: Self.local)
        #expect(try give(keyFrame(7, timestamp: 0), to: &seen, at: 0))
        // The later description doesn't repeat the source.
        var later = video(ssrc: nil, payloadType: 100)
        later.extensionIDs = [.mid: 5]
        seen.update(later)
        #expect(seen.source == Self.camera && seen.extensions[.mediaIdentification] == 5)
        #expect(try give(keyFrame(8, timestamp: 3000, payloadType: PayloadType(masking: 100)), to: &seen, at: 33))
        var frames = 0
        while seen.pollFrame() != nil { frames += 1 }
        #expect(frames == 2)
        #expect(seen.video?.statistics.packetsReceived == 2)
        seen.update(video(ssrc: 0xD))
        #expect(seen.source == SynchronizationSource(0xD))
        #expect(seen.video?.statistics.packetsReceived == 0)
    }

    @Test("An inactive section ignores media, sends nothing, and continues afterwards", arguments: [true, false])
    func inactivity(isRejected: Bool) throws {
        var media = InboundMedia(sound(), localSource: Self.local)
        #expect(media.isActive)
        #expect(try give(TestPacket(number: 1, timestamp: 0), to: &media, at: 0))
        #expect(media.pollActivity(now: at(milliseconds: 0), isConnected: true) == .flowing)
        #expect(media.nextDeadline(now: at(milliseconds: 0)) == at(milliseconds: 1000))
        media.update(isRejected ? nil : sound(direction: .inactive))
        media.receiveGoodbye()
        #expect(!media.isActive)
        #expect(try !give(TestPacket(number: 2, timestamp: 960), to: &media, at: 20))
        media.receive(report(at: .seconds(1), timestamp: 0), now: at(milliseconds: 30))
        #expect(media.lastSenderReport == nil)
        #expect(media.nextDeadline(now: at(milliseconds: 20)) == nil)
        #expect(media.pollReport(now: at(milliseconds: 5000)) == nil)
        #expect(media.pollFeedback(now: at(milliseconds: 5000)).isEmpty)
        #expect(media.pollActivity(now: at(milliseconds: 5000), isConnected: true) == nil)
        media.update(sound())
        #expect(media.isActive && !media.hasEnded)
        #expect(media.pollActivity(now: at(milliseconds: 6000), isConnected: true) == .waiting)
        #expect(try give(TestPacket(number: 3, timestamp: 288_000), to: &media, at: 6000))
        #expect(media.pollActivity(now: at(milliseconds: 6000), isConnected: true) == .flowing)
        #expect(media.audio?.statistics.packetsReceived == 2)
        #expect([media.pollSound(), media.pollSound()].map { $0?.sequenceNumber } == [1, 3])
    }

    @Test("A goodbye ends the stream, and a later packet restarts it")
    func goodbye() throws {
        var media = InboundMedia(sound(), localSource: Self.local)
        #expect(try give(TestPacket(number: 1, timestamp: 0), to: &media, at: 0))
        #expect(media.pollActivity(now: at(milliseconds: 0), isConnected: true) == .flowing)
        media.receiveGoodbye()
        #expect(media.hasEnded)
        #expect(media.pollActivity(now: at(milliseconds: 10), isConnected: true) == .ended)
        #expect(try give(TestPacket(number: 2, timestamp: 960), to: &media, at: 20))
        #expect(media.pollActivity(now: at(milliseconds: 20), isConnected: true) == .flowing)
    }

    @Test("No key frame is requested after the sender's goodbye until media arrives again", arguments: [true, false])
    func goodbyeWhileWaiting(isWaitingBefore: Bool) throws {
        var media = InboundMedia(video(), localSource: Self.local)
        let request = RTCPPacket.pictureLossIndication(
            PictureLossIndication(sender: Self.local, media: Self.camera))
        #expect(try give(keyFrame(1, timestamp: 0), to: &media, at: 0))
        if isWaitingBefore {
            media.requestKeyFrame(now: at(milliseconds: 10))
            #expect(media.pollFeedback(now: at(milliseconds: 10)) == [request])
        }
        media.receiveGoodbye()
        media.requestKeyFrame(now: at(milliseconds: 20))
        for milliseconds in stride(from: 20, to: 2000, by: 100) {
            let now = at(milliseconds: milliseconds)
            #expect(media.pollFeedback(now: now).isEmpty)
            _ = media.pollReport(now: now)
            #expect(media.nextDeadline(now: now).map { $0 > now } ?? true, "no time is waited for that has passed")
        }
        var delta = keyFrame(2, timestamp: 180_000)
        delta.payload[1] |= 1
        #expect(try give(delta, to: &media, at: 2000))
        #expect(media.pollFeedback(now: at(milliseconds: 2000)) == [request])
    }

    @Test("A frame's orientation applies from its own frame until another one arrives")
    func orientation() throws {
        var media = InboundMedia(video(), localSource: Self.local)
        var packets = (0..<5).map { keyFrame(UInt16($0), timestamp: UInt32($0) * 3000) }
        packets[1].extensions.videoOrientation = VideoOrientation(quarterTurns: 3)
        packets[3].extensions.videoOrientation = VideoOrientation(quarterTurns: 0)
        // The frame that turns back overtakes the one before it.
        var turns: [Int] = []
        for index in [0, 1, 3, 2, 4] {
            #expect(try give(packets[index], to: &media, at: index * 33))
            while let frame = media.pollFrame() { turns.append(frame.quarterTurns) }
        }
        #expect(turns == [0, 3, 3, 0, 0])
    }

    @Test("A retransmission carries the orientation too")
    func retransmittedOrientation() throws {
        var media = InboundMedia(video(), localSource: Self.local)
        #expect(try give(keyFrame(0, timestamp: 0), to: &media, at: 0))
        var packet = keyFrame(1, timestamp: 3000)
        packet.extensions.videoOrientation = VideoOrientation(quarterTurns: 1)
        packet.payload = [0, 1] + packet.payload
        packet.source = Self.cameraRTX
        packet.payloadType = PayloadType(masking: 97)
        #expect(try give(packet, to: &media, at: 50))
        var turns: [Int] = []
        while let frame = media.pollFrame() { turns.append(frame.quarterTurns) }
        #expect(turns == [0, 1])
    }

    @Test("A report that counts a received retransmission does not indicate loss")
    func countedRetransmissions() throws {
        var media = InboundMedia(video(), localSource: Self.local)
        #expect(try give(keyFrame(1, timestamp: 0), to: &media, at: 0))
        #expect(media.pollActivity(now: at(milliseconds: 0), isConnected: true) == .flowing)
        media.receive(report(of: Self.camera, at: .seconds(5), timestamp: 1, packetCount: 1), now: at(milliseconds: 10))
        var packet = keyFrame(1, timestamp: 0)
        packet.payload = [0, 1] + packet.payload
        packet.source = Self.cameraRTX
        packet.payloadType = PayloadType(masking: 97)
        #expect(try give(packet, to: &media, at: 500))
        media.receive(
            report(of: Self.camera, at: .seconds(6), timestamp: 1, packetCount: 2), now: at(milliseconds: 1010))
        #expect(media.pollActivity(now: at(milliseconds: 2500), isConnected: true) == .paused)
        media.receive(
            report(of: Self.camera, at: .seconds(8), timestamp: 1, packetCount: 3), now: at(milliseconds: 3010))
        #expect(media.pollActivity(now: at(milliseconds: 3010), isConnected: true) == .lost)
    }

    @Test("A section that begins inactive is waiting for its first packet")
    func beginsInactive() throws {
        var media = InboundMedia(sound(direction: .inactive), localSource: Self.local)
        #expect(!media.isActive)
        #expect(try !give(TestPacket(number: 1, timestamp: 0), to: &media, at: 0))
        media.update(sound())
        #expect(media.pollActivity(now: at(milliseconds: 0), isConnected: true) == nil)
        #expect(try give(TestPacket(number: 1, timestamp: 0), to: &media, at: 0))
        #expect(media.pollActivity(now: at(milliseconds: 0), isConnected: true) == .flowing)
    }

    @Test("Reports of the source are counted, and retransmissions and padding do not count as media")
    func reportsAndRetransmissions() throws {
        var media = InboundMedia(video(), localSource: Self.local)
        let sent = report(of: Self.camera, at: .seconds(5), timestamp: 1, packetCount: 3)
        media.receive(sent, now: at(milliseconds: 10))
        media.receive(report(of: Self.cameraRTX, at: .seconds(6), timestamp: 1), now: at(milliseconds: 20))
        #expect(media.senderReportCount == 1)
        #expect(media.lastSenderReport?.report == sent && media.lastSenderReport?.arrival == at(milliseconds: 10))
        var padding = TestPacket(
            number: 1, timestamp: 0, source: Self.cameraRTX, payloadType: PayloadType(masking: 97), payload: [])
        #expect(try give(padding, to: &media, at: 20))
        padding.source = Self.camera
        padding.payloadType = Self.vp8
        #expect(try give(padding, to: &media, at: 20))
        #expect(media.pollActivity(now: at(milliseconds: 20), isConnected: true) == nil)
        #expect(try give(keyFrame(2, timestamp: 0), to: &media, at: 30))
        #expect(media.pollActivity(now: at(milliseconds: 30), isConnected: true) == .flowing)
        #expect(media.pollReport(now: at(milliseconds: 1020))?.source == Self.local)
    }
}
