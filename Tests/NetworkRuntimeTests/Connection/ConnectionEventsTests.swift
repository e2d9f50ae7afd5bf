import RTCShareICE
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import Testing

@testable import RTCShareNetworkRuntime
@testable import RTCSharePeerConnection

/// What waits for a reader who is slow, or never comes.
@Suite(.timeLimit(.minutes(2))) struct ConnectionEventsTests {
    private static let keyFrame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x10, 0, 0x10, 0]
    private static let deltaFrame: [UInt8] = [0x11, 0, 0]

    private static func frame(isKey: Bool, byteCount: Int = 10) throws -> AssembledFrame {
        var data = isKey ? keyFrame : deltaFrame
        data += [UInt8](repeating: 0, count: max(0, byteCount - data.count))
        let header = try data.withUnsafeBytes { try VP8FrameHeader(parsing: $0.bytes) }
        return AssembledFrame(
            data: data, header: header, timestamp: RTPTimestamp(0), pictureID: nil, temporalLayer: nil, packetCount: 1,
            firstArrival: Instant(nanoseconds: 0), completion: Instant(nanoseconds: 0))
    }

    private static func sound(_ number: UInt16) -> ReceivedAudioPacket {
        ReceivedAudioPacket(
            payload: [1], sequenceNumber: Int64(number), timestamp: 0, sampleCount: 960,
            arrival: Instant(nanoseconds: 0), captureTime: nil, level: nil, marker: false)
    }

    private static func candidate(_ port: UInt16) throws -> CandidateAttribute {
        try #require(CandidateAttribute("1 1 udp 1 192.0.2.1 \(port) typ host"))
    }

    private static func all(_ queue: inout EventQueue) -> [String] {
        var events: [String] = []
        while let event = queue.takeFirst() { events.append("\(event)") }
        return events
    }

    @Test("A reader who never reads costs a bounded amount, whatever the peer does")
    func absentReader() throws {
        var queue = EventQueue()
        let (key, delta) = (try Self.frame(isKey: true), try Self.frame(isKey: false))
        for round in 0..<10_000 {
            let media = round % 4
            _ = queue.append(.activityChanged(round % 8 < 4 ? .flowing : .paused, receiver: media))
            _ = queue.append(round % 2 == 0 ? .disconnected : .reconnected)
            _ = queue.append(.restartNeeded)
            _ = queue.append(.remoteMediaChanged)
            _ = queue.append(.gatheringComplete)
            _ = queue.append(.localCandidate(try Self.candidate(9), mid: "0", ufrag: "u\(round)"))
            _ = queue.append(.localCandidatesEnded)
            _ = queue.append(.frame(round % 4000 < 4 ? key : delta, receiver: media))
            _ = queue.append(.sound(Self.sound(UInt16(round)), receiver: media))
        }
        #expect(queue.count <= 4 + 6 + 4 * (EventQueue.maximumFrames + EventQueue.maximumSoundPackets))
        let events = Self.all(&queue)
        #expect(events.filter { $0.contains("activityChanged") }.count == 4)
        #expect(events.contains("\(PeerConnection.Event.activityChanged(.paused, receiver: 3))"), "the newest")
        #expect(events.filter { $0.contains("connected") } == ["reconnected"])
        #expect(events.filter { $0.contains("localCandidate(") }.allSatisfy { $0.contains("u9999") })
        #expect(queue.drops(ofReceiver: 0).soundPackets == 2250 && queue.drops(ofReceiver: 0).frames > 0)
    }

    @Test("What happens once, and what this side does, is kept to the last, in order")
    func keptEvents() throws {
        var queue = EventQueue()
        var expected: [String] = []
        func append(_ event: PeerConnection.Event) {
            _ = queue.append(event)
            expected.append("\(event)")
        }
        append(.connected)
        for port in 1...100 { append(.localCandidate(try Self.candidate(UInt16(port)), mid: "0", ufrag: "u")) }
        append(.remoteMediaChanged)
        for _ in 0..<1000 {
            _ = queue.append(.activityChanged(.paused, receiver: 0))
            _ = queue.append(.remoteMediaChanged)
        }
        expected.append("\(PeerConnection.Event.activityChanged(.paused, receiver: 0))")
        append(.closedByPeer)
        append(.failed(.consentExpired))
        #expect(Self.all(&queue) == expected)
    }

    @Test("Frames that nobody reads go all together, and the next to be read is a key frame")
    func discardedFrames() throws {
        var queue = EventQueue()
        let (key, delta) = (try Self.frame(isKey: true), try Self.frame(isKey: false))
        #expect(queue.append(.frame(key, receiver: 1)).isEmpty)
        for _ in 1..<EventQueue.maximumFrames { #expect(queue.append(.frame(delta, receiver: 1)).isEmpty) }
        #expect(queue.append(.frame(delta, receiver: 0)).isEmpty)
        #expect(queue.append(.frame(delta, receiver: 1)) == [1], "a key frame is asked for")
        #expect(queue.append(.frame(delta, receiver: 1)).isEmpty, "once")
        #expect(queue.count == 1 && queue.drops(ofReceiver: 1).frames == EventQueue.maximumFrames + 2)
        #expect(queue.append(.frame(key, receiver: 1)).isEmpty)
        #expect(queue.append(.frame(delta, receiver: 1)).isEmpty)
        #expect(queue.count == 3)
        let large = try Self.frame(isKey: false, byteCount: 6 << 20)
        #expect(queue.append(.frame(large, receiver: 1)).isEmpty && queue.append(.frame(large, receiver: 1)).isEmpty)
        #expect(queue.append(.frame(large, receiver: 1)) == [1], "three of them are too many bytes")
        #expect(queue.drops(ofReceiver: 0).frames == 0)
    }

    @Test("The frames of all receivers together take a bounded number of bytes, and who has most of them pays")
    func frameBytes() throws {
        var queue = EventQueue()
        let (key, delta) = (
            try Self.frame(isKey: true, byteCount: 1 << 20), try Self.frame(isKey: false, byteCount: 1 << 20)
        )
        for receiver in 0...5 { #expect(queue.append(.frame(key, receiver: receiver)).isEmpty) }
        for _ in 0..<6 { #expect(queue.append(.frame(delta, receiver: 0)).isEmpty) }
        // Another has more and more of them.
        let asked = (0..<20).map { _ in queue.append(.frame(delta, receiver: 1)) }
        #expect(asked.filter { !$0.isEmpty } == [[0], [1]], "\(asked)")
        #expect(queue.drops(ofReceiver: 0).frames == 7 && queue.drops(ofReceiver: 2).frames == 0)
        for receiver in 0..<32 { _ = queue.append(.frame(key, receiver: receiver)) }
        var bytes = 0
        while let event = queue.takeFirst() { if case .frame(let frame, _) = event { bytes += frame.data.count } }
        #expect(bytes > EventQueue.maximumFrameBytes / 2 && bytes <= EventQueue.maximumFrameBytes, "\(bytes)")
        // What was read makes room.
        for receiver in 0..<16 { #expect(queue.append(.frame(key, receiver: receiver)).isEmpty) }
    }

    @Test("Frames and sound of several receivers, and all else, are read in the order in which they came")
    func readingOrder() throws {
        var queue = EventQueue()
        let (key, delta) = (try Self.frame(isKey: true), try Self.frame(isKey: false))
        let events: [PeerConnection.Event] = [
            .connected, .frame(key, receiver: 1), .sound(Self.sound(1), receiver: 2), .remoteMediaChanged,
            .sound(Self.sound(2), receiver: 1), .frame(delta, receiver: 1), .frame(key, receiver: 0), .closedByPeer,
            .sound(Self.sound(3), receiver: 2), .sound(Self.sound(4), receiver: 1),
        ]
        for event in events { #expect(queue.append(event).isEmpty) }
        #expect(queue.count == events.count)
        #expect(Self.all(&queue) == events.map { "\($0)" } && queue.count == 0)
    }

    @Test("A stream gives what waits and what comes, and ends when finished or its reader is cancelled")
    func eventStream() async {
        let events = ConnectionEvents()
        _ = events.append(.connected)
        var iterator = events.stream { $0 }.makeAsyncIterator()
        #expect(await iterator.next().map { "\($0)" } == "connected")
        let reading = Task { [stream = events.stream { $0 }] in
            var read: [String] = []
            for await event in stream { read.append("\(event)") }
            return read
        }
        _ = events.append(.disconnected)
        _ = events.append(.closedByPeer)
        events.finish()
        _ = events.append(.connected)
        let read = await reading.value
        #expect(read == ["disconnected", "closedByPeer"])

        let others = ConnectionEvents()
        let waiting = Task { [stream = others.stream { $0 }] in
            for await _ in stream {}
        }
        waiting.cancel()
        await waiting.value
    }

    @Test("For frames that nobody read the peer is asked for a key frame, and they are counted as dropped")
    func unreadFrames() async throws {
        let pair = try await ConnectedPair([.video(streamID: "alice#content", isContent: true)])
        for number in 0...UInt16(EventQueue.maximumFrames) {
            let frame = PacketizedFrame(
                vp8: number == 0 ? Self.keyFrame : Self.deltaFrame,
                descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .long(number)),
                isKeyFrame: number == 0, captureTime: .milliseconds(Int(number)), width: 16, height: 16,
                maximumPayloadByteCount: PacketizedFrame.maximumPayloadByteCount)
            pair.sender.send(frame, media: 0)
        }
        for await (feedback, _) in pair.feedback.stream {
            if case .keyFrameRequested = feedback { break }
        }
        let dropped = await pair.viewer.statistics().first { $0.type == .inboundRTP }?.integer("framesDropped")
        #expect(dropped == Int64(EventQueue.maximumFrames) + 1)
        await pair.close()
    }
}
