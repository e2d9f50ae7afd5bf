import RTCShareMedia
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareTransport
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams

/// The layers of a simulcast beside each other, and beside direct viewers.
@Suite struct LayerTests {
    /// Three layers and a direct viewer.
    private struct Room {
        var group = EncodingGroup<NumberedVideoSender>(wanted: VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2000)))
        let senders = (0..<4).map { NumberedVideoSender($0) }

        init(count: Int = 4) {
            var agreement = SenderAgreement()
            agreement.media = .agreed
            for sender in senders.prefix(count) {
                let layer = sender.id < 3 ? SimulcastLayer(sender.id) : SimulcastLayer()
                group.add(sender, layer: layer, isActive: true)
                group.negotiated(agreement, of: sender, now: .zero)
            }
            senders[0].layers = Array(senders[1..<3])
            group.isShowing = true
            while group.takeAction() != nil {}
        }
    }

    @Test("A direct viewer has the video's bitrate, frame rate and size, whatever the parameters of the best layer are")
    func directViewer() {
        var room = Room()
        for sender in room.senders {
            room.group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(2000)), of: sender, now: .zero)
        }
        let best = VideoLayerParameters(
            maxBitrate: .kilobitsPerSecond(1100), maxFramerate: 15, scaleResolutionDownBy: 4)
        room.group.setLayers([best], now: .seconds(10))
        for second in 11..<40 { room.group.move(now: .seconds(second)) }
        let direct = room.group.settings(of: room.group.encoding(of: room.senders[3]), now: .seconds(40))
        #expect(direct.framesPerSecond == 30 && direct.bitrate == .kilobitsPerSecond(2000) && direct.sizeDivisor == 1)
    }

    @Test("A layer whose encoder failed is tried again when it is activated, and with another codec")
    func failedLayer() {
        for isActivated in [true, false] {
            var room = Room(count: 3)
            room.group.didFailToBegin(room.group.encoding(of: room.senders[1]), now: .zero)
            #expect(room.senders[1].state.isIdle && room.group.demand(of: room.senders[1]) == .failed)
            if isActivated {
                let off = [VideoLayerParameters(), VideoLayerParameters(active: false), VideoLayerParameters()]
                room.group.setLayers(off, now: .seconds(1))
                room.group.setLayers([], now: .seconds(2))
            } else {
                room.group.setCodecs(VideoCodec.all.reversed(), now: .seconds(3))
            }
            #expect(!room.senders[1].state.isIdle && room.group.demand(of: room.senders[1]) != .failed)
        }
    }

    @Test("The demand of a failed layer is updated when it joins an encoding that exists already")
    func rejoiningLayer() {
        var room = Room(count: 3)
        room.group.didFailToBegin(room.group.encoding(of: room.senders[1]), now: .zero)
        let other = NumberedVideoSender(4)
        var agreement = SenderAgreement()
        agreement.media = .agreed
        room.group.add(other, layer: SimulcastLayer(1), isActive: true)
        room.group.negotiated(agreement, of: other, now: .zero)
        while room.group.takeAction() != nil {}
        room.group.setCodecs(VideoCodec.all.reversed(), now: .seconds(3))
        #expect(room.group.encoding(of: room.senders[1]) == room.group.encoding(of: other))
        var actions: [EncodingGroup<NumberedVideoSender>.Action] = []
        while let action = room.group.takeAction() { actions.append(action) }
        #expect(actions.contains(.updateDemand))
    }

    @Test("A layer whose encoder fails with all frames is known as failed until its next frame, and is retried")
    func failingLayer() {
        var room = Room(count: 3)
        let encoding = room.group.encoding(of: room.senders[1])
        func updatesDemand() -> Bool {
            var updates = false
            while let action = room.group.takeAction() { updates = updates || action == .updateDemand }
            return updates
        }
        room.group.didFail(encoding, now: .zero)
        #expect(updatesDemand())
        let demands = room.senders[..<3].map { room.group.demand(of: $0) }
        #expect(demands.map(\.hasFailed) == [false, true, false] && demands[1].maximum > .zero)
        _ = room.group.recipients(of: encoding, isKeyFrame: true)
        #expect(updatesDemand() && !room.group.demand(of: room.senders[1]).hasFailed)
        room.group.didFail(encoding, now: .seconds(1))
        room.group.trackChanged(now: .seconds(2))
        #expect(!room.group.demand(of: room.senders[1]).hasFailed)
    }

    @Test("A layer in the only codec that its peer accepts pauses if that has no encoder")
    func onlyCodec() throws {
        let (first, second) = (VideoCodec.all[0], VideoCodec.all[1])
        var group = EncodingGroup<NumberedVideoSender>(
            wanted: VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2000)), codecs: [first, second])
        let sender = NumberedVideoSender(1)
        var agreement = SenderAgreement()
        agreement.media = .agreed
        let type = try #require(PayloadType(97))
        agreement.formats = [NegotiatedFormat(second.format, payloadType: type)]
        group.add(sender, layer: SimulcastLayer(1), isActive: true)
        group.negotiated(agreement, of: sender, now: .zero)
        while group.takeAction() != nil {}
        group.didFailToBegin(group.encoding(of: sender), now: .zero)
        var begun = 0
        while let action = group.takeAction() { if case .begin = action { begun += 1 } }
        #expect(begun == 0 && sender.state.isIdle)
    }

    /// Returns the times in milliseconds of the key frames of three layers, if the server requests one of each layer
    /// every 100 ms.
    private static func keyFrames(_ room: inout Room) -> [[Int]] {
        var made = [[Int]](repeating: [], count: 3)
        var due = [Duration?](repeating: nil, count: 3)
        for tick in 0..<300 {
            let now = Duration.milliseconds(tick * 100)
            if tick > 0 { for sender in room.senders[..<3] { room.group.keyFrameRequested(by: sender, now: now) } }
            while let action = room.group.takeAction() {
                guard case .makeKeyFrame(let encoding, let time) = action else { continue }
                for layer in 0..<3 where room.group.encoding(of: room.senders[layer]) == encoding {
                    due[layer] = min(due[layer] ?? time, time)
                }
            }
            for layer in 0..<3 where tick == 0 || due[layer].map({ $0 <= now }) ?? false {
                let encoding = room.group.encoding(of: room.senders[layer])
                _ = room.group.recipients(of: encoding, isKeyFrame: true)
                room.group.keyFrameMade(of: encoding, byteCount: 1000, isBlurred: false, now: now)
                due[layer] = nil
                made[layer].append(tick * 100)
            }
        }
        return made
    }

    @Test("After several requests for all layers, the best one has at most one key frame in three seconds")
    func requests() {
        var room = Room(count: 3)
        let made = Self.keyFrames(&room)
        #expect(made[0].prefix(7) == [0, 300, 1000, 2200, 4600, 7600, 10600] && made[0].count == 13, "\(made[0])")
        #expect(made[1].count > 90 && made[2].count > 90)
    }

    @Test("The key frame of the best layer is not made before a lower one can have its own")
    func lowestFirst() {
        var room = Room(count: 3)
        // That of the lowest layer takes one second at its bitrate, and key frames take half of the bits.
        for (sender, byteCount) in zip(room.senders, [1000, 1000, 25_000]) {
            let encoding = room.group.encoding(of: sender)
            room.group.keyFrameMade(of: encoding, byteCount: byteCount, isBlurred: false, now: .seconds(10))
        }
        while room.group.takeAction() != nil {}
        for sender in room.senders[..<3] { room.group.keyFrameRequested(by: sender, now: .seconds(11)) }
        var times: [Int: Duration] = [:]
        while let action = room.group.takeAction() {
            if case .makeKeyFrame(let encoding, let time) = action { times[encoding] = time }
        }
        let layers = room.senders[..<3].map { times[room.group.encoding(of: $0)] }
        #expect(layers[1] == .seconds(11) && layers[2] == .seconds(12) && layers[0] == layers[2], "\(layers)")
        // Nor if its rate changes meanwhile.
        room.group.targetChanged(
            BitrateTarget(bitrate: .kilobitsPerSecond(1900)), of: room.senders[0], now: .milliseconds(11_100))
        while let action = room.group.takeAction() {
            guard case .makeKeyFrame(let encoding, let time) = action else { continue }
            #expect(encoding != room.group.encoding(of: room.senders[0]) || time == .seconds(12), "\(time)")
        }
    }

    @Test("A server without simulcast gets key frames as a viewer does, and one beside direct viewers as these do")
    func requestsOfOthers() {
        var single = Room(count: 3)
        var refused = SenderAgreement()
        refused.media = .refused
        for sender in single.senders[1..<3] { single.group.negotiated(refused, of: sender, now: .zero) }
        #expect(Self.keyFrames(&single)[0].count > 90)
        var shared = Room()
        let made = Self.keyFrames(&shared)[0]
        #expect(made.last.map { $0 - made[made.count - 2] } == 10_000, "\(made)")
    }

    @Test("The main encoding is the best one that has a bitrate")
    func mainEncoding() {
        var room = Room(count: 3)
        for (sender, rate) in zip(room.senders, [0, 600, 200]) {
            room.group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(rate)), of: sender, now: .zero)
        }
        for second in 1..<20 { room.group.move(now: .seconds(second)) }
        #expect(room.group.mainEncoding == room.group.encoding(of: room.senders[1]))
    }
}
