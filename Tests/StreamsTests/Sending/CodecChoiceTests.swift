import RTCShareMedia
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

@Suite struct CodecChoiceTests {
    private static let size = PixelSize(width: 1920, height: 1080)

    private func update(
        _ choice: inout CodecChoice, kilobits: Int, maximum: Int? = nil, isTooSlow: Bool = false,
        isRecorded: Bool = false, at seconds: Int
    ) {
        choice.update(
            bitrate: .kilobitsPerSecond(kilobits), maximum: .kilobitsPerSecond(maximum ?? kilobits), size: Self.size,
            isTooSlow: isTooSlow, isRecorded: isRecorded,
            now: .seconds(seconds))
    }

    @Test("The codec with the smallest frames comes first while the route carries few bits for the size")
    func bitrate() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        #expect(choice.order == [.vp8, .av1])
        update(&choice, kilobits: 2500, at: 0)
        #expect(choice.order == [.av1, .vp8])
        // A rate near the limit changes nothing, and another one does if it lasts.
        update(&choice, kilobits: 4000, at: 1)
        #expect(choice.order == [.av1, .vp8])
        for second in 2...6 {
            update(&choice, kilobits: 5000, at: second)
            #expect(choice.order == [.av1, .vp8])
        }
        update(&choice, kilobits: 5000, at: 7)
        #expect(choice.order == [.vp8, .av1])
        update(&choice, kilobits: 4000, at: 20)
        #expect(choice.order == [.vp8, .av1])
        for second in [21, 22, 23] { update(&choice, kilobits: second == 22 ? 4000 : 1000, at: second) }
        update(&choice, kilobits: 1000, at: 27)
        #expect(choice.order == [.vp8, .av1])
        update(&choice, kilobits: 1000, at: 28)
        #expect(choice.order == [.av1, .vp8])
    }

    @Test(
        "The usual bitrate makes text sharp in the codec that comes first at it",
        arguments: [
            (CodecChoice(automaticAmong: [.vp8, .av1]), 0, 0, 2500), (CodecChoice(automaticAmong: []), 0, 0, 2500),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 640, 360, 2500),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 1280, 720, 4600),
            (CodecChoice(automaticAmong: [.vp8, .av1, .h264]), 1920, 1080, 3500),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 2000, 1000, 3400),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 2560, 1440, 6200),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 3840, 2160, 41_400),
            (CodecChoice(automaticAmong: [.vp8, .av1]), 16_383, 16_383, 100_000),
            (CodecChoice(automaticAmong: [.vp8, .h264]), 1920, 1080, 10_300),
            (CodecChoice([.vp8, .av1]), 1920, 1080, 10_300), (CodecChoice([.av1, .vp8]), 1920, 1080, 6200),
            (CodecChoice([.h264, .vp8]), 1920, 1080, 11_400),
        ])
    func usualBitrate(choice: CodecChoice, width: Int, height: Int, kilobits: Int) {
        let size = PixelSize(width: width, height: height)
        let bitrate = choice.usualBitrate(of: size, isRecorded: false)
        #expect(bitrate == .kilobitsPerSecond(kilobits))
        var running = choice
        running.update(
            bitrate: .kilobitsPerSecond(300), maximum: bitrate, size: size, isTooSlow: false, isRecorded: false,
            now: .zero)
        #expect(running.usualBitrate(of: size, isRecorded: false) == bitrate)
        let isSmallest = [3400, 3500, 6200].contains(kilobits) && choice.wanted == nil
        #expect(running.prefersSmallest == isSmallest)
    }

    @Test("A recorded video has a bitrate for the quickest codec")
    func usualBitrateOfRecording() {
        let choice = CodecChoice(automaticAmong: [.vp8, .av1])
        #expect(choice.usualBitrate(of: Self.size, isRecorded: true) == .kilobitsPerSecond(10_300))
    }

    @Test("A video has a bitrate for the quickest codec while the others rest")
    func usualBitrateDuringRest() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        update(&choice, kilobits: 1000, at: 0)
        update(&choice, kilobits: 1000, isTooSlow: true, at: 1)
        let isResting = choice.decision(now: .seconds(2))?.isResting
        #expect(isResting == true)
        let rates = [false, true].map { choice.usualBitrate(of: Self.size, isRecorded: false, isResting: $0) }
        #expect(rates == [.kilobitsPerSecond(3500), .kilobitsPerSecond(10_300)])
        // The higher bitrate of that time must not keep the quickest codec.
        for second in 2...31 { update(&choice, kilobits: 10_300, maximum: 10_300, at: second) }
        #expect(choice.decision(now: .seconds(31))?.isResting == false)
        for second in 32...38 { update(&choice, kilobits: 3500, maximum: 3500, at: second) }
        #expect(choice.prefersSmallest)
    }

    @Test("The first choice is by the maximum bitrate, since routes begin with less")
    func start() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        update(&choice, kilobits: 300, maximum: 8000, at: 0)
        #expect(choice.order == [.vp8, .av1])
    }

    @Test("A decision names its reason, and the codec that is not used for it")
    func decision() {
        func expect(
            _ choice: CodecChoice, _ codec: String, _ reason: CodecDecision.Reason, instead alternative: String? = nil,
            at seconds: Int = 0, retry: Duration? = nil
        ) {
            #expect(
                choice.decision(now: .seconds(seconds))
                    == CodecDecision(codec: codec, reason: reason, alternative: alternative, retryTime: retry))
        }
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        expect(choice, "VP8", .quickest)
        update(&choice, kilobits: 1000, at: 0)
        expect(choice, "AV1", .sharpest)
        update(&choice, kilobits: 1000, isRecorded: true, at: 1)
        expect(choice, "VP8", .recording)
        update(&choice, kilobits: 1000, at: 2)
        update(&choice, kilobits: 1000, isTooSlow: true, at: 3)
        expect(choice, "VP8", .processor, instead: "AV1", at: 8, retry: .seconds(25))
        expect(choice, "VP8", .processor, instead: "AV1", at: 34, retry: .zero)
        choice.update(
            bitrate: .kilobitsPerSecond(1000), maximum: .kilobitsPerSecond(1000),
            size: PixelSize(width: 3840, height: 2160), isTooSlow: false, isRecorded: false, now: .seconds(40))
        expect(choice, "VP8", .size, instead: "AV1")
        let failed = CodecDecision(codec: "VP8", reason: .failed, alternative: "AV1", retryTime: nil)
        #expect(CodecChoice([.av1, .vp8]).decision(failed: [.av1], now: .zero) == failed && failed.isResting)
        #expect(CodecChoice([.av1]).decision(failed: [.av1], now: .zero)?.reason == .chosen)
        expect(CodecChoice(automaticAmong: [.vp8]), "VP8", .only)
        expect(CodecChoice([.av1, .vp8]), "AV1", .chosen)
    }

    @Test("A machine that is too slow has the quickest codec, each time for twice as long, up to ten minutes")
    func slowness() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        var (time, rests) = (0, [Int]())
        for _ in 0..<8 {
            update(&choice, kilobits: 1000, at: time)
            #expect(choice.prefersSmallest)
            update(&choice, kilobits: 1000, isTooSlow: true, at: time)
            let start = time
            repeat {
                time += 1
                // VP8 may be too slow, too: that changes nothing.
                update(&choice, kilobits: 1000, isTooSlow: true, at: time)
            } while !choice.prefersSmallest
            rests.append(time - start)
        }
        #expect(rests == [30, 60, 120, 240, 480, 600, 600, 600])
    }

    @Test("Text that scrolls so fast that it is coarse or late has the quickest codec for some time")
    func scrolling() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        update(&choice, kilobits: 1000, at: 0)
        func frame(isScroll: Bool, coarseness: Int, byteCount: Int = 10_000) -> EncodedVideoFrame {
            var frame = EncodedVideoFrame(
                data: Array(repeating: 0, count: byteCount), format: .av1, isKeyFrame: false, size: Self.size,
                timestamp: .zero, coarseness: coarseness)
            frame.isScroll = isScroll
            return frame
        }
        for (isScroll, coarseness, time) in [(false, 127, 1), (true, 60, 2)] {
            for _ in 0..<30 { choice.count(frame(isScroll: isScroll, coarseness: coarseness)) }
            update(&choice, kilobits: 1000, at: time)
            #expect(choice.prefersSmallest)
        }
        for _ in 0..<10 { choice.count(frame(isScroll: true, coarseness: 106)) }
        update(&choice, kilobits: 1000, at: 3)
        #expect(choice.order == [.vp8, .av1] && choice.reason == .scrolling)
        update(&choice, kilobits: 1000, at: 33)
        #expect(choice.prefersSmallest)
        for _ in 0..<3 { choice.count(frame(isScroll: true, coarseness: 20, byteCount: 40_000)) }
        update(&choice, kilobits: 1000, at: 34)
        #expect(choice.reason == .scrolling)
    }

    @Test("A recorded video, and a choice of the owner, have one order")
    func fixed() {
        var choice = CodecChoice(automaticAmong: [.vp8, .av1])
        update(&choice, kilobits: 1000, isRecorded: true, at: 0)
        #expect(choice.order == [.vp8, .av1])
        var owner = CodecChoice([.av1, .vp8])
        update(&owner, kilobits: 20_000, isTooSlow: true, at: 0)
        #expect(owner.order == [.av1, .vp8])
    }
}

/// The codecs of a group's senders.
@Suite struct EncodingGroupCodecTests {
    private static func agreement(_ codecs: [VideoCodec]) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = .agreed
        agreement.formats = codecs.enumerated().compactMap { index, codec in
            PayloadType(UInt8(96 + index)).map { NegotiatedFormat(codec.format, payloadType: $0) }
        }
        return agreement
    }

    private func group(_ codecs: [VideoCodec]) -> EncodingGroup<NumberedVideoSender> {
        EncodingGroup(wanted: .init(bitrate: .kilobitsPerSecond(2000)), codecs: codecs)
    }

    private func begun(_ group: inout EncodingGroup<NumberedVideoSender>) -> [Int: VideoCodec] {
        var begun: [Int: VideoCodec] = [:]
        while let action = group.takeAction() {
            if case .begin(let encoding, let codec) = action { begun[encoding] = codec }
        }
        return begun
    }

    private func ended(_ group: inout EncodingGroup<NumberedVideoSender>) -> [Int] {
        var ended: [Int] = []
        while let action = group.takeAction() { if case .end(let encoding) = action { ended.append(encoding) } }
        return ended
    }

    @Test("Each sender is sent the first codec that its peer accepts, and another one after its key frame")
    func change() {
        var group = group([.vp8, .av1])
        let (one, other) = (NumberedVideoSender(1), NumberedVideoSender(2))
        for (sender, codecs) in [(one, [VideoCodec.vp8, .av1]), (other, [.vp8])] {
            group.add(sender, isActive: true)
            group.negotiated(Self.agreement(codecs), of: sender, now: .zero)
        }
        #expect(begun(&group).isEmpty && group.numbers(of: 0, isKeyFrame: true) == [1, 2])
        group.setCodecs([.av1, .vp8], now: .seconds(10))
        #expect(begun(&group) == [1: .av1])
        #expect(group.encoding(of: one) == 1 && group.encoding(of: other) == 0)
        // Until then it is sent the previous one.
        #expect(group.numbers(of: 0, isKeyFrame: false) == [1, 2])
        #expect(group.numbers(of: 1, isKeyFrame: true) == [1] && group.numbers(of: 0, isKeyFrame: false) == [2])
        group.setCodecs([.vp8, .av1], now: .seconds(20))
        #expect(ended(&group).isEmpty && group.settings(of: 1, now: .seconds(20)).bitrate > .zero)
        #expect(group.numbers(of: 1, isKeyFrame: false) == [1] && group.numbers(of: 0, isKeyFrame: true) == [1, 2])
        #expect(ended(&group) == [1])
    }

    @Test("An encoding has the limits of its peers for its codec, and the one with viewers is the main one")
    func limits() {
        var group = group([.vp8, .av1])
        let one = NumberedVideoSender(1)
        group.add(one, isActive: true)
        var agreement = Self.agreement([.vp8])
        if let type = PayloadType(97) {
            agreement.formats.append(
                NegotiatedFormat(
                    VideoCodec.av1.format, payloadType: type, limits: PictureLimits(maximumFramesPerSecond: 10)))
        }
        group.negotiated(agreement, of: one, now: .zero)
        _ = group.numbers(of: 0, isKeyFrame: true)
        let usual = group.settings(of: 0, now: .zero).framesPerSecond
        #expect(usual > 10 && group.mainEncoding == 0)
        group.setCodecs([.av1, .vp8], now: .seconds(1))
        #expect(group.settings(of: 1, now: .seconds(1)).framesPerSecond == 10)
        _ = group.numbers(of: 1, isKeyFrame: true)
        #expect(
            group.mainEncoding == 1 && group.hasBestQuality(1)
                && group.settings(of: 0, now: .seconds(2)).bitrate == .zero)
    }

    @Test("A description that accepts another codec moves its sender")
    func negotiation() {
        var group = group([.av1, .vp8])
        let one = NumberedVideoSender(1)
        group.add(one, isActive: true)
        group.negotiated(Self.agreement([.vp8]), of: one, now: .zero)
        #expect(begun(&group) == [1: .vp8] && group.encoding(of: one) == 1)
        group.negotiated(Self.agreement([.av1]), of: one, now: .seconds(1))
        #expect(group.encoding(of: one) == 0)
    }

    @Test("A codec without an encoder is not chosen again")
    func failure() {
        var group = group([.vp8, .av1])
        let one = NumberedVideoSender(1)
        group.add(one, isActive: true)
        group.negotiated(Self.agreement([.vp8, .av1]), of: one, now: .zero)
        _ = group.numbers(of: 0, isKeyFrame: true)
        group.setCodecs([.av1, .vp8], now: .seconds(1))
        #expect(begun(&group) == [1: .av1])
        group.didFailToBegin(1, now: .seconds(1))
        #expect(group.encoding(of: one) == 0 && one.state.phase == .sending(0))
        group.setCodecs([.vp8], now: .seconds(2))
        group.setCodecs([.av1, .vp8], now: .seconds(3))
        #expect(begun(&group).isEmpty && group.encoding(of: one) == 0)
    }

    @Test("Viewers of an encoder that fails are sent another codec that they accept; the others keep it")
    func unusable() {
        var group = group([.av1, .vp8])
        let (one, other) = (NumberedVideoSender(1), NumberedVideoSender(2))
        for (sender, codecs) in [(one, [VideoCodec.vp8, .av1]), (other, [.av1])] {
            group.add(sender, isActive: true)
            group.negotiated(Self.agreement(codecs), of: sender, now: .zero)
        }
        #expect(begun(&group).isEmpty && group.numbers(of: 0, isKeyFrame: true) == [1, 2])
        group.didFail(0, now: .seconds(1))
        #expect(begun(&group) == [1: .vp8])
        #expect(one.state.phase == .awaitingKeyFrame(of: 1, meanwhile: 0) && other.state.phase == .sending(0))
        #expect(group.numbers(of: 1, isKeyFrame: true) == [1])
        // It is retried, and fails again.
        group.didFail(0, now: .seconds(2))
        #expect(begun(&group).isEmpty && group.settings(of: 0, now: .seconds(2)).bitrate > .zero)
        // A viewer that joins is sent another codec at once, unless it accepts only this one.
        let (third, fourth) = (NumberedVideoSender(3), NumberedVideoSender(4))
        for (sender, codecs) in [(third, [VideoCodec.vp8, .av1]), (fourth, [.av1])] {
            group.add(sender, isActive: true)
            group.negotiated(Self.agreement(codecs), of: sender, now: .seconds(3))
        }
        #expect(group.encoding(of: third) == 1 && group.encoding(of: fourth) == 0)
        // Frames of another track may suit it.
        group.trackChanged(now: .seconds(4))
        #expect(group.encoding(of: one) == 0 && group.encoding(of: third) == 0)
    }
}
