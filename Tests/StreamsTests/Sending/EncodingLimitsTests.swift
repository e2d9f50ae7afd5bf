import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams

/// The effect of a peer's limits on its own encoding, and on one that it shares with others.
@Suite struct EncodingLimitsTests {
    private static let wanted = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2000))

    private static func limits(
        kilobits: Int? = nil, frames: Double? = nil, macroblocks: Int? = nil
    ) -> SendingLimits {
        var limits = SendingLimits()
        limits.maximumBitrate = kilobits.map { .kilobitsPerSecond($0) }
        limits.maximumFramesPerSecond = frames
        limits.maximumMacroblocks = macroblocks
        return limits
    }

    @Test("A peer's limits hold for its own encoding, however low they are")
    func peerLimitsHold() {
        var settings = Self.wanted
        Self.limits(kilobits: 1, frames: 0.1, macroblocks: 48).apply(to: &settings, isShared: false)
        #expect(settings.bitrate == .kilobitsPerSecond(1) && settings.framesPerSecond == 0.1)
        #expect(settings.maximumSize.macroblocks <= 48)
    }

    @Test("A peer's limits lower a shared encoding to no less than 320x180 at 5 frames per second")
    func sharedFloor() {
        var settings = Self.wanted
        for _ in 0..<100 {
            Self.limits(kilobits: 1, frames: 0.1, macroblocks: 48).apply(to: &settings, isShared: true)
        }
        #expect(settings.bitrate == .kilobitsPerSecond(30) && settings.framesPerSecond == 5)
        #expect(settings.maximumSize == PixelSize(width: 1920, height: 1080).fitted(withinMacroblocks: 240))
        #expect(settings.maximumSize.width >= 320 && settings.maximumSize.height >= 180)
    }

    @Test("Limits above that hold for all peers of an encoding, and none raises the program's limits")
    func higherLimits() {
        var settings = Self.wanted
        Self.limits(kilobits: 900, frames: 15, macroblocks: 3600).apply(to: &settings, isShared: true)
        #expect(settings.bitrate == .kilobitsPerSecond(900) && settings.framesPerSecond == 15)
        #expect((3300...3600).contains(settings.maximumSize.macroblocks))
        settings = Self.wanted
        settings.framesPerSecond = 2
        Self.limits(kilobits: 9000, frames: 1, macroblocks: 1 << 20).apply(to: &settings, isShared: true)
        #expect(settings.bitrate == .kilobitsPerSecond(2000) && settings.framesPerSecond == 2)
        #expect(settings.maximumSize == Self.wanted.maximumSize)
    }

    @Test(
        "The layers of a screen have fewer frames, and those of motion fewer pixels",
        arguments: [
            (.text, nil, false), (.motion, nil, true), (nil, nil, false), (nil, .motion, true),
            (ContentHint.none, .motion, true),
            (.text, .motion, false),
        ] as [(ContentHint?, ContentHint?, Bool)])
    func layers(hint: ContentHint?, found: ContentHint?, isMotion: Bool) {
        var group = EncodingGroup<NumberedVideoSender>(wanted: Self.wanted)
        group.wanted.hint = hint
        group.shownHint = found
        let senders = (0..<3).map { NumberedVideoSender($0) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        for sender in senders {
            group.add(sender, layer: SimulcastLayer(sender.id), isActive: true)
            group.negotiated(agreement, of: sender, now: .zero)
        }
        let settings = senders.map { group.settings(of: group.encoding(of: $0), now: .zero) }
        #expect(settings.map(\.bitrate) == [2000, 600, 200].map { .kilobitsPerSecond($0) })
        #expect(settings.map(\.framesPerSecond) == (isMotion ? [30, 30, 30] : [30, 10, 5]))
        #expect(settings.map(\.sizeDivisor) == (isMotion ? [1, 2, 4] : [1, 1, 1]))
        #expect(Set(settings.map(\.maximumSize)).count == 1 && settings.allSatisfy { $0.foundHint == found })
    }

    @Test(
        "Each layer of a simulcast has an encoding of its own, and one without bitrate does not stop the others",
        arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func layerEncodings(order: [Int]) {
        var group = EncodingGroup<NumberedVideoSender>(wanted: Self.wanted)
        let senders = (0..<3).map { NumberedVideoSender($0) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        for sender in senders { group.add(sender, layer: SimulcastLayer(sender.id), isActive: true) }
        for index in order { group.negotiated(agreement, of: senders[index], now: .zero) }
        #expect(Set(senders.map { group.encoding(of: $0) }).count == 3)
        group.isShowing = true
        let demands = senders.map { group.demand(of: $0) }
        #expect(demands.map(\.maximum) == [2000, 600, 200].map { .kilobitsPerSecond($0) })
        for (sender, rate) in zip(senders, [2000, 600, 200]) {
            group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(rate)), of: sender, now: .zero)
        }
        for second in 1..<20 { group.move(now: .seconds(second)) }
        let encodings = senders.map { group.encoding(of: $0) }
        #expect(Set(encodings).count == 3)
        func rates() -> [DataRate] { encodings.map { group.settings(of: $0, now: .seconds(20)).bitrate } }
        #expect(rates() == [2000, 600, 200].map { .kilobitsPerSecond($0) })
        group.targetChanged(BitrateTarget(bitrate: .zero), of: senders[0], now: .seconds(20))
        for second in 20..<40 { group.move(now: .seconds(second)) }
        #expect(group.encoding(of: senders[0]) == encodings[0] && rates()[0] == .zero)
        #expect(Array(rates()[1...]) == [600, 200].map { .kilobitsPerSecond($0) })
    }

    @Test("The parameters of a layer replace its usual values, and one that is not active begins with one key frame")
    func layerParameters() {
        var group = EncodingGroup<NumberedVideoSender>(wanted: Self.wanted)
        let senders = (0..<4).map { NumberedVideoSender($0) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        for sender in senders {
            let layer = sender.id < 3 ? SimulcastLayer(sender.id) : SimulcastLayer()
            group.add(sender, layer: layer, isActive: true)
            group.negotiated(agreement, of: sender, now: .zero)
        }
        group.isShowing = true
        var begun: [Int] = []
        var keyFrames: [Int] = []
        func carryOut() {
            (begun, keyFrames) = ([], [])
            while let action = group.takeAction() {
                switch action {
                case .begin(let encoding, _): begun.append(encoding)
                case .makeKeyFrame(let encoding, _): keyFrames.append(encoding)
                case .end, .updateDemand: continue
                }
            }
        }
        group.setLayers(
            [
                VideoLayerParameters(active: false), VideoLayerParameters(maxBitrate: .kilobitsPerSecond(1500)),
                VideoLayerParameters(maxFramerate: 15, scaleResolutionDownBy: 1.5),
            ], now: .zero)
        carryOut()
        #expect(senders.map(\.state.isIdle) == [true, false, false, false], "a single stream has no layers")
        #expect(senders.map { group.demand(of: $0).maximum } == [0, 1500, 200, 2000].map { .kilobitsPerSecond($0) })
        let settings = senders.map { group.settings(of: group.encoding(of: $0), now: .zero) }
        #expect(settings[1...].map(\.framesPerSecond) == [10, 15, 30])
        #expect(settings[1...].map(\.sizeDivisor) == [1, 1.5, 1])
        group.setLayers(
            [VideoLayerParameters(), VideoLayerParameters(active: false), VideoLayerParameters()], now: .seconds(1))
        carryOut()
        #expect(senders.map(\.state.isIdle) == [false, true, false, false] && keyFrames == [0])
        group.setLayers([], now: .seconds(2))
        carryOut()
        let second = group.encoding(of: senders[1])
        #expect(begun == [second] && keyFrames == [second])
        #expect(group.settings(of: second, now: .zero).framesPerSecond == 10)
    }

    @Test("A layer without an encoder pauses until there is another track, and leaves the best encoding as it is")
    func layerWithoutEncoder() {
        var group = EncodingGroup<NumberedVideoSender>(wanted: Self.wanted)
        let senders = (0..<3).map { NumberedVideoSender($0) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        for sender in senders {
            group.add(sender, layer: SimulcastLayer(sender.id), isActive: true)
            group.negotiated(agreement, of: sender, now: .zero)
        }
        group.isShowing = true
        func begun() -> [Int] {
            var begun: [Int] = []
            while let action = group.takeAction() {
                if case .begin(let encoding, _) = action { begun.append(encoding) }
            }
            return begun
        }
        let failing = group.encoding(of: senders[1])
        #expect(begun().contains(failing) && failing > 0)
        group.didFailToBegin(failing, now: .zero)
        #expect(senders[1].state.isIdle && group.demand(of: senders[1]) == .failed)
        #expect(group.numbers(of: 0, isKeyFrame: true) == [0])
        #expect(group.settings(of: 0, now: .zero).framesPerSecond == 30)
        // Another description changes nothing.
        group.negotiated(agreement, of: senders[1], now: .seconds(1))
        #expect(begun().isEmpty && senders[1].state.isIdle && !senders[2].state.isIdle)
        group.trackChanged(now: .seconds(2))
        #expect(begun() == [group.encoding(of: senders[1])] && group.demand(of: senders[1]).maximum > .zero)
    }

    @Test("A direct viewer with limits, and a layer of another server, do not share what a layer loses")
    func layersBesideOthers() {
        var group = EncodingGroup<NumberedVideoSender>(wanted: Self.wanted)
        let senders = (0..<3).map { NumberedVideoSender($0) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        // The second layers of two servers, and a viewer whose description permits little.
        for sender in senders.prefix(2) { group.add(sender, layer: SimulcastLayer(1), isActive: true) }
        group.add(senders[2], isActive: true)
        for sender in senders.prefix(2) { group.negotiated(agreement, of: sender, now: .zero) }
        agreement.limits = Self.limits(kilobits: 900)
        group.negotiated(agreement, of: senders[2], now: .zero)
        for sender in senders {
            group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(900)), of: sender, now: .zero)
        }
        let (layer, other) = (group.encoding(of: senders[0]), group.encoding(of: senders[2]))
        #expect(group.encoding(of: senders[1]) == layer && layer != other)
        #expect(group.settings(of: other, now: .seconds(5)).framesPerSecond == 30)
        _ = group.recipients(of: layer, isKeyFrame: true)
        group.targetChanged(BitrateTarget(bitrate: .zero), of: senders[0], now: .seconds(5))
        #expect(group.numbers(of: layer, isKeyFrame: false) == [1])
        #expect(group.settings(of: layer, now: .seconds(5)).bitrate == .kilobitsPerSecond(600))
        group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(500)), of: senders[0], now: .seconds(6))
        #expect(group.numbers(of: layer, isKeyFrame: true) == [0, 1])
    }

    @Test("A peer's fraction is the least of its bits, frames and sides")
    func leastShare() {
        let cases: [(SendingLimits, Double)] = [
            (Self.limits(), 1), (Self.limits(kilobits: 500), 0.25), (Self.limits(frames: 15), 0.5),
            (Self.limits(macroblocks: 8160 / 4), 0.5), (Self.limits(kilobits: 1000, frames: 3, macroblocks: 8000), 0.1),
            (Self.limits(kilobits: 90_000, frames: 300, macroblocks: 1 << 20), 1),
        ]
        for (limits, share) in cases { #expect(abs(limits.share(of: Self.wanted) - share) < 1e-9, "\(limits)") }
        // The default limits of browsers separate no viewer, whatever the screen.
        let firefox = Self.limits(frames: 60, macroblocks: 12_288)
        var large = Self.wanted
        large.maximumSize = PixelSize(width: 3840, height: 2160)
        #expect(
            firefox.share(of: Self.wanted) == 1 && firefox.share(of: large) > EncodingGroup<VideoSender>.climbingShare)
    }
}
