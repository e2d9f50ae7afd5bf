@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

extension FrameAssembler {
    fileprivate mutating func insert(_ packet: VP8TestStream.Packet, now: Instant) {
        insert(
            packet.number, timestamp: packet.timestamp, marker: packet.marker, descriptor: packet.descriptor,
            payload: packet.payload, now: now)
    }

    fileprivate mutating func insert(
        _ number: SequenceNumber, timestamp: RTPTimestamp, marker: Bool, descriptor: VP8PayloadDescriptor,
        payload: [UInt8], now: Instant
    ) {
        let format: any VideoPayloadFormat = .vp8
        let bytes = descriptor.bytes + payload
        guard let (content, piece) = try? format.read(bytes.span.bytes) else { return }
        insert(
            number, timestamp: timestamp, marker: marker, content: content, piece: Array(bytes[piece]), now: now)
    }

    fileprivate mutating func pollFrames() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = pollFrame() { frames.append(frame.data) }
        return frames
    }
}

private func bytes(_ packets: [VP8TestStream.Packet]) -> [UInt8] { packets.flatMap(\.payload) }

@Suite struct FrameAssemblerTests {
    @Test("Reordered and duplicated packets give the same frames", arguments: 0..<40)
    func anyOrder(seed: UInt64) {
        var stream = VP8TestStream(seed: seed)
        var generator = SeededGenerator(seed: seed)
        let frames = (0..<30).map { index in
            stream.frame(isKeyFrame: index % 10 == 0, packetCount: Int.random(in: 1...12, using: &generator))
        }
        // The position of each packet is shifted by up to eight places.
        var order = frames.flatMap { $0 }.enumerated().map { (Double($0) + 8 * generator.fraction(), $1) }
        for entry in order where generator.chance(0.1) { order.append((entry.0 + 8 * generator.fraction(), entry.1)) }
        order.sort { $0.0 < $1.0 }
        var assembler = FrameAssembler()
        var assembled: [[UInt8]] = []
        for (index, entry) in order.enumerated() {
            assembler.insert(entry.1, now: at(index))
            assembler.poll(now: at(index))
            assembled += assembler.pollFrames()
        }
        #expect(assembled == frames.map(bytes))
        #expect(assembler.framesDropped == 0)
        #expect(assembler.bufferedPackets == 0)
        #expect(assembler.bufferedBytes == 0)
        #expect(assembler.packetsDuplicated == order.count - frames.map(\.count).reduce(0, +))
        #expect(!assembler.needsKeyFrame(now: at(10_000)))
    }

    @Test("A frame with a packet that can't be read is given up at once, and a key frame is needed")
    func unreadable() {
        for position in 0..<3 {
            var stream = VP8TestStream(seed: 3)
            var assembler = FrameAssembler()
            for packet in stream.frame(isKeyFrame: true, packetCount: 2) { assembler.insert(packet, now: at(0)) }
            #expect(assembler.pollFrames().count == 1)
            let packets = stream.frame(isKeyFrame: false, packetCount: 3)
            for (index, packet) in packets.enumerated() {
                #expect(!assembler.needsKeyFrame(now: at(1)) || index > position)
                if index == position {
                    assembler.insertUnreadable(packet.number, timestamp: packet.timestamp, now: at(1))
                } else {
                    assembler.insert(packet, now: at(1))
                }
            }
            #expect(assembler.pollFrames().isEmpty && assembler.needsKeyFrame(now: at(1)))
            let next = stream.frame(isKeyFrame: true, packetCount: 2)
            for packet in next { assembler.insert(packet, now: at(2)) }
            #expect(assembler.pollFrames() == [bytes(next)] && assembler.bufferedPackets == 0)
            #expect(assembler.framesDropped == 1)
        }
    }

    @Test("A frame before a packet that can't be read is whole, even without a marker")
    func unreadableAfterFrame() {
        var stream = VP8TestStream(seed: 4)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 2)
        for packet in key {
            assembler.insert(
                packet.number, timestamp: packet.timestamp, marker: false, descriptor: packet.descriptor,
                payload: packet.payload, now: at(0))
        }
        #expect(assembler.pollFrame() == nil)
        let next = stream.frame(isKeyFrame: false, packetCount: 1)[0]
        assembler.insertUnreadable(next.number, timestamp: next.timestamp, now: at(1))
        #expect(assembler.pollFrames() == [bytes(key)] && assembler.needsKeyFrame(now: at(1)))
    }

    @Test("A key frame with a packet that can't be read is requested again, without the wait for its rest")
    func unreadableKeyFrame() {
        var stream = VP8TestStream(seed: 5)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 4)
        assembler.insert(key[0], now: at(0))
        #expect(!assembler.needsKeyFrame(now: at(110)))
        assembler.insertUnreadable(key[1].number, timestamp: key[1].timestamp, now: at(0))
        #expect(assembler.needsKeyFrame(now: at(110)))
    }

    @Test("The packets of a small key frame give the frame in any order")
    func everyOrder() {
        var stream = VP8TestStream(seed: 1)
        let packets = stream.frame(isKeyFrame: true, packetCount: 5)
        func permute(_ rest: [VP8TestStream.Packet], _ taken: [VP8TestStream.Packet]) {
            if rest.isEmpty {
                var assembler = FrameAssembler()
                for (index, packet) in taken.enumerated() {
                    #expect(assembler.pollFrame() == nil)
                    assembler.insert(packet, now: at(index))
                }
                let frame = assembler.pollFrame()
                #expect(frame?.data == bytes(packets))
                #expect(frame?.isKeyFrame == true)
                #expect(frame?.size?.width == 1280 && frame?.size?.height == 720)
                #expect(frame?.firstArrival == at(0) && frame?.completion == at(4))
                #expect(frame?.packetCount == 5)
            }
            for index in rest.indices {
                var left = rest
                let packet = left.remove(at: index)
                permute(left, taken + [packet])
            }
        }
        permute(packets, [])
    }

    @Test("Frames before the first key frame are dropped, and a key frame is requested at once")
    func startsAtKeyFrame() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        #expect(!assembler.needsKeyFrame(now: at(0)))
        for _ in 0..<3 {
            for packet in stream.frame(isKeyFrame: false, packetCount: 2) { assembler.insert(packet, now: at(0)) }
        }
        #expect(assembler.needsKeyFrame(now: at(0)))
        let key = stream.frame(isKeyFrame: true, packetCount: 3)
        for packet in key { assembler.insert(packet, now: at(5)) }
        #expect(assembler.pollFrames() == [bytes(key)])
        #expect(assembler.framesDropped == 3)
        #expect(!assembler.needsKeyFrame(now: at(1000)))
    }

    @Test("A key frame that has begun is awaited before another is requested")
    func waitsForBegunKeyFrame() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        for packet in stream.frame(isKeyFrame: true, packetCount: 3).dropLast() {
            assembler.insert(packet, now: at(10))
        }
        #expect(assembler.nextDeadline(now: at(10)) == at(510))
        #expect(!assembler.needsKeyFrame(now: at(509)))
        #expect(assembler.needsKeyFrame(now: at(510)))
    }

    @Test("A frame that is completed before packets that are no frame is returned")
    func frameBeforeBreak() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 1)
        let last = stream.frame(isKeyFrame: false, packetCount: 2)
        let headless = stream.frame(isKeyFrame: false, packetCount: 2)
        for packet in key { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrames() == [bytes(key)])
        // The second packet of a frame, with the number of the first.
        var broken = headless[1]
        broken.number = headless[0].number
        for packet in [broken, last[1], last[0]] { assembler.insert(packet, now: at(1)) }
        #expect(assembler.pollFrames() == [bytes(last)])
        #expect(assembler.needsKeyFrame(now: at(1)))
    }

    @Test("A gap delays later frames until it times out, and a key frame ends it")
    func givesUpGap() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 2)
        let lossy = stream.frame(isKeyFrame: false, packetCount: 3)
        let held = stream.frame(isKeyFrame: false, packetCount: 1)
        for packet in key + [lossy[0], lossy[2]] + held { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrames() == [bytes(key)])
        #expect(assembler.nextDeadline(now: at(0)) == at(50))
        assembler.poll(now: at(50))
        #expect(assembler.nextDeadline(now: at(50)) == at(3000))
        assembler.poll(now: at(2999))
        #expect(!assembler.isAwaitingKeyFrame)
        assembler.poll(now: at(3000))
        #expect(assembler.isAwaitingKeyFrame && assembler.needsKeyFrame(now: at(3000)))
        #expect(assembler.framesDropped == 2)
        assembler.insert(lossy[1], now: at(3001))
        #expect(assembler.packetsDiscarded == 1)
        #expect(assembler.pollFrame() == nil)
        let next = stream.frame(isKeyFrame: true, packetCount: 4)
        for packet in next { assembler.insert(packet, now: at(3100)) }
        #expect(assembler.pollFrames() == [bytes(next)])
    }

    @Test("A packet repaired in time releases the frames that waited for it")
    func repairsGap() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let frames = (0..<6).map { stream.frame(isKeyFrame: $0 == 0, packetCount: 2) }
        let lost = frames[1][0]
        for packet in frames.flatMap({ $0 }) where packet != lost { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrames().count == 1)
        assembler.insert(lost, now: at(300))
        #expect(assembler.pollFrames() == frames.dropFirst().map(bytes))
        #expect(assembler.nextDeadline(now: at(300)) == nil)
        #expect(assembler.framesDropped == 0)
    }

    @Test("Padding uses sequence numbers and makes no frames")
    func padding() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 1)
        for _ in 0..<3 {
            assembler.insertPadding(stream.nextNumber, timestamp: RTPTimestamp(0), now: at(0))
            stream.nextNumber = stream.nextNumber.next
        }
        let delta = stream.frame(isKeyFrame: false, packetCount: 2)
        for packet in key + delta { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrames() == [bytes(key), bytes(delta)])
        #expect(assembler.bufferedPackets == 0)
    }

    @Test("A missing number between consecutive picture IDs is not awaited, others are")
    func lostPadding() {
        for isMedia in [false, true] {
            var stream = VP8TestStream(seed: 1)
            var assembler = FrameAssembler()
            let key = stream.frame(isKeyFrame: true, packetCount: 1)
            if isMedia {
                _ = stream.frame(isKeyFrame: false, packetCount: 2)
            } else {
                // Two packets of correction, of which the first is lost.
                stream.nextNumber = stream.nextNumber.advanced(by: 1)
                assembler.insertPadding(stream.nextNumber, timestamp: RTPTimestamp(0), now: at(0))
                stream.nextNumber = stream.nextNumber.next
            }
            let delta = stream.frame(isKeyFrame: false, packetCount: 2)
            for packet in key + delta { assembler.insert(packet, now: at(0)) }
            #expect(assembler.pollFrames() == (isMedia ? [bytes(key)] : [bytes(key), bytes(delta)]))
            #expect((assembler.nextDeadline(now: at(0)) != nil) == isMedia)
        }
    }

    @Test("The start of the next frame ends a frame whose marker is missing")
    func missingMarker() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        var key = stream.frame(isKeyFrame: true, packetCount: 2)
        key[1].marker = false
        let delta = stream.frame(isKeyFrame: false, packetCount: 1)
        for packet in key { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrame() == nil)
        for packet in delta { assembler.insert(packet, now: at(0)) }
        #expect(assembler.pollFrames() == [bytes(key), bytes(delta)])
    }

    @Test(
        "After a lost frame, frames that do not depend on it continue",
        arguments: [
            // The lost frame, the frame after it, whether that can be decoded without.
            (TemporalLayer(index: 1), TemporalLayer.base, true),
            (TemporalLayer(index: 1), TemporalLayer(index: 1), false),
            (TemporalLayer(index: 2), TemporalLayer(index: 1, dependsOnBaseOnly: true), true),
            (TemporalLayer.base, TemporalLayer.base, false),
            (TemporalLayer.base, TemporalLayer(index: 1, dependsOnBaseOnly: true), false),
        ])
    func skipsHigherLayers(lost: TemporalLayer, after: TemporalLayer, decodes: Bool) {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 1, layer: .base)
        _ = stream.frame(isKeyFrame: false, packetCount: 2, layer: lost)
        let next = stream.frame(isKeyFrame: false, packetCount: 2, layer: after)
        for packet in key + next { assembler.insert(packet, now: at(0)) }
        assembler.poll(now: at(49))
        #expect(assembler.pollFrames() == [bytes(key)])
        assembler.poll(now: at(50))
        #expect(assembler.pollFrames() == (decodes ? [bytes(next)] : []))
    }

    @Test("A lost non-reference frame is skipped and counted")
    func skipsNonReference() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 1)
        let lost = stream.frame(isKeyFrame: false, packetCount: 2, isNonReference: true)
        let next = stream.frame(isKeyFrame: false, packetCount: 1)
        for packet in key + [lost[1]] + next { assembler.insert(packet, now: at(0)) }
        assembler.poll(now: at(50))
        #expect(assembler.pollFrames() == [bytes(key), bytes(next)])
        #expect(assembler.framesDropped == 1)
    }

    @Test("A second gap is skipped on time after the first, even when no packets arrive")
    func skipsTwoGapsInSilence() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let frames = (0..<3).map { index in
            if index > 0 { _ = stream.frame(isKeyFrame: false, packetCount: 1, layer: TemporalLayer(index: 1)) }
            return stream.frame(isKeyFrame: index == 0, packetCount: 1, layer: .base)
        }
        for (index, frame) in frames.enumerated() { assembler.insert(frame[0], now: at(index * 10)) }
        #expect(assembler.pollFrames() == [bytes(frames[0])])
        #expect(assembler.nextDeadline(now: at(20)) == at(60))
        assembler.poll(now: at(60))
        #expect(assembler.pollFrames() == [bytes(frames[1])])
        #expect(assembler.nextDeadline(now: at(60)) == at(70))
        assembler.poll(now: at(70))
        #expect(assembler.pollFrames() == [bytes(frames[2])])
        #expect(assembler.nextDeadline(now: at(70)) == nil && !assembler.needsKeyFrame(now: at(5000)))
    }

    @Test("All overdue gaps are skipped at once")
    func skipsOverdueGaps() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let frames = (0..<4).map { index in
            if index > 0 { _ = stream.frame(isKeyFrame: false, packetCount: 1, layer: TemporalLayer(index: 1)) }
            return stream.frame(isKeyFrame: index == 0, packetCount: 1, layer: .base)
        }
        for (index, frame) in frames.enumerated() { assembler.insert(frame[0], now: at(index)) }
        assembler.poll(now: at(200))
        #expect(assembler.pollFrames() == frames.map(bytes))
        #expect(assembler.nextDeadline(now: at(200)) == nil)
    }

    @Test("A complete key frame after a gap is delivered after the skip delay")
    func skipsToKeyFrame() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let key = stream.frame(isKeyFrame: true, packetCount: 1)
        _ = stream.frame(isKeyFrame: false, packetCount: 2)
        let held = stream.frame(isKeyFrame: false, packetCount: 2)
        let next = stream.frame(isKeyFrame: true, packetCount: 3)
        for packet in key + held { assembler.insert(packet, now: at(0)) }
        for packet in next { assembler.insert(packet, now: at(60)) }
        #expect(assembler.pollFrames() == [bytes(key), bytes(next)])
        #expect(assembler.framesDropped == 1)
    }

    @Test("The search for usable frames after a gap is bounded by packets and time", arguments: [true, false])
    func boundedSearch(isWhole: Bool) {
        var stream = VP8TestStream(seed: 1)
        var generator = SeededGenerator(seed: 3)
        var assembler = FrameAssembler()
        for packet in stream.frame(isKeyFrame: true, packetCount: 1) { assembler.insert(packet, now: at(0)) }
        let lost = stream.frame(isKeyFrame: false, packetCount: 1)[0].number
        let count = 1900
        for index in 1...count {
            let now = Instant(nanoseconds: Int64(index) * 100_000)
            assembler.insert(
                SequenceNumber(lost.rawValue &+ UInt16(index)),
                timestamp: RTPTimestamp(isWhole ? UInt32(index) * 90 : 90),
                marker: isWhole,
                descriptor: VP8PayloadDescriptor(
                    startsPartition: true, isNonReference: true,
                    pictureID: .long(.random(in: 0..<0x8000, using: &generator))),
                payload: [0x11, 0, 0], now: now)
            assembler.poll(now: now)
        }
        #expect(assembler.pollFrames().count == 1 && assembler.bufferedPackets == count)
        let searches = 190 / 10 + FrameAssembler.cheapSearch / 2
        #expect(assembler.packetsSearched <= searches * 2 * count / 2)
        #expect(assembler.packetsSearched > 0)
        // A key frame that is found by none of the searches is found by the next, for which a deadline is kept.
        let end = at(190)
        let key = [UInt8]([0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x10, 0, 0x10, 0])
        for number in [lost.rawValue &+ UInt16(count + 1), lost.rawValue &+ UInt16(count + 2)] {
            assembler.insert(
                SequenceNumber(number), timestamp: RTPTimestamp(1), marker: true,
                descriptor: VP8PayloadDescriptor(startsPartition: true), payload: key, now: end)
        }
        let deadline = assembler.nextDeadline(now: end)
        #expect(deadline.map { $0 > end && $0 <= end.advanced(by: .milliseconds(10)) } == true)
        if let deadline { assembler.poll(now: deadline) }
        #expect(assembler.pollFrames() == [key, key])
    }

    @Test("Frames after a gap are searched again only when packets have arrived")
    func searchedOnce() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        for packet in stream.frame(isKeyFrame: true, packetCount: 1) { assembler.insert(packet, now: at(0)) }
        _ = stream.frame(isKeyFrame: false, packetCount: 1)
        for packet in stream.frame(isKeyFrame: false, packetCount: 2) { assembler.insert(packet, now: at(1)) }
        assembler.poll(now: at(60))
        let searched = assembler.packetsSearched
        #expect(searched > 0)
        for step in 61..<200 { assembler.poll(now: at(step)) }
        #expect(assembler.packetsSearched == searched)
    }

    @Test("Only the newest incomplete key frames are tracked")
    func boundedKeyFrameStarts() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        let frames = (0..<FrameAssembler.maximumKeyFrameStarts + 4).map { _ in
            stream.frame(isKeyFrame: true, packetCount: 2)
        }
        for frame in frames { assembler.insert(frame[0], now: at(0)) }
        assembler.insert(frames[3][1], now: at(1))
        #expect(assembler.pollFrames().isEmpty, "it was given up")
        assembler.insert(frames[4][1], now: at(1))
        #expect(assembler.pollFrames() == [bytes(frames[4])])
    }

    @Test("A malformed VP8 frame is dropped, and a key frame is requested")
    func malformed() {
        var stream = VP8TestStream(seed: 1)
        var assembler = FrameAssembler()
        var key = stream.frame(isKeyFrame: true, packetCount: 1)
        key[0].payload = [0x10, 0, 0, 1, 2, 3, 0, 0, 0, 0]
        assembler.insert(key[0], now: at(0))
        #expect(assembler.pollFrame() == nil)
        #expect(assembler.framesDropped == 1)
        #expect(assembler.needsKeyFrame(now: at(0)))
    }

    @Test("A truncated frame is dropped without a trap")
    func truncated() {
        for length in 0..<10 {
            var stream = VP8TestStream(seed: 1)
            var assembler = FrameAssembler()
            var key = stream.frame(isKeyFrame: true, packetCount: 1)
            key[0].payload = Array(key[0].payload.prefix(length))
            assembler.insert(key[0], now: at(0))
            #expect(assembler.pollFrame() == nil)
            #expect(assembler.needsKeyFrame(now: at(600)))
        }
    }

    @Test("Memory use stays within its limits", arguments: 0..<8)
    func boundedMemory(seed: UInt64) {
        var configuration = FrameAssembler.Configuration()
        configuration.packetCapacity = 64
        configuration.byteCapacity = 20_000
        var assembler = FrameAssembler(configuration: configuration)
        var generator = SeededGenerator(seed: seed)
        for step in 0..<5000 {
            let number = SequenceNumber(
                UInt16(truncatingIfNeeded: step * 2 + Int.random(in: -50...50, using: &generator)))
            let jump = generator.chance(0.01) ? UInt16.random(in: 0...65_535, using: &generator) : 0
            let first = UInt8.random(in: 0...255, using: &generator)
            assembler.insert(
                SequenceNumber(number.rawValue &+ jump), timestamp: RTPTimestamp(UInt32(step / 4)),
                marker: generator.chance(0.2),
                descriptor: VP8PayloadDescriptor(startsPartition: generator.chance(0.4)),
                payload: Array(repeating: first, count: Int.random(in: 0...1200, using: &generator)), now: at(step))
            assembler.poll(now: at(step))
            _ = assembler.pollFrames()
            #expect(assembler.bufferedPackets <= 64)
            #expect(assembler.bufferedBytes <= 20_000)
        }
    }

    @Test("Frames come out unchanged and with their references when losses are not repaired", arguments: 0..<20)
    func lossWithoutRepair(seed: UInt64) {
        var stream = VP8TestStream(seed: seed)
        var generator = SeededGenerator(seed: seed ^ 0xABCD)
        var limits = FrameAssembler.Configuration()
        limits.maximumWait = .milliseconds(100)
        var assembler = FrameAssembler(configuration: limits)
        var frames: [(data: [UInt8], isKeyFrame: Bool)] = []
        var assembled: [Int] = []
        var wantsKeyFrame = true
        for index in 0..<300 {
            let now = at(index * 33)
            let packets = stream.frame(isKeyFrame: wantsKeyFrame, packetCount: Int.random(in: 1...6, using: &generator))
            frames.append((bytes(packets), wantsKeyFrame))
            for packet in packets where !generator.chance(0.02) { assembler.insert(packet, now: now) }
            assembler.poll(now: now)
            while let frame = assembler.pollFrame() {
                assembled.append(frames.lastIndex { $0.data == frame.data } ?? -1)
            }
            wantsKeyFrame = assembler.needsKeyFrame(now: now)
        }
        #expect(assembled.count > 50)
        #expect(assembled == assembled.sorted())
        for (previous, next) in zip(assembled, assembled.dropFirst()) {
            #expect(next == previous + 1 || frames[next].isKeyFrame)
        }
        #expect(!assembled.contains(-1))
    }
}
