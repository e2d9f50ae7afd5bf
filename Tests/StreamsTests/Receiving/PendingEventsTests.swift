import RTCShareICE
import RTCShareMedia
import RTCShareSDP
import RTCShareVideoCoding
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// The queue of events for a reader that is slow or never reads.
@Suite(.timeLimit(.minutes(2))) struct PendingEventsTests {
    private static func candidate(_ port: UInt16) throws -> CandidateAttribute {
        try #require(CandidateAttribute("1 1 udp 1 192.0.2.1 \(port) typ host"))
    }

    private static func all<Event>(_ queue: inout EventQueue<Event>) -> [String] {
        var events: [String] = []
        while let event = queue.takeFirst() { events.append("\(event)") }
        return events
    }

    @Test("A reader that never reads costs limited memory, whatever the peer does")
    func absentReader() throws {
        var (events, media) = (EventQueue<ConnectionSignal>(), EventQueue<MediaEvent>())
        let receivers = (0..<4).map { VideoReceiver(index: $0) {} }
        for round in 0..<10_000 {
            let index = round % 4
            events.append(.state(round % 2 == 0 ? .disconnected : .connected))
            events.append(.restartNeeded)
            events.append(.localCandidate(try Self.candidate(9), mid: "0", ufrag: "u\(round)"))
            events.append(.localCandidatesEnded(ufrag: "u\(round)"))
            media.append(.activityChanged(round % 8 < 4 ? .flowing : .paused, receiver: index))
            media.append(.remoteMediaChanged([]))
            media.append(.frameSizeChanged(PixelSize(width: round, height: 1), receivers[index]))
        }
        #expect(events.count == 4 && media.count == 4 + 1 + 4)
        let (happened, changed) = (Self.all(&events), Self.all(&media))
        #expect(changed.contains("\(MediaEvent.activityChanged(.paused, receiver: 3))"), "the newest")
        #expect(changed.contains { $0.contains("frameSizeChanged") && $0.contains("9999") })
        #expect(happened.filter { $0.contains("connected") } == ["\(ConnectionSignal.state(.connected))"])
        #expect(happened.filter { $0.contains("localCandidate(") }.allSatisfy { $0.contains("u9999") })
    }

    @Test("Unique events and this side's events are kept in order")
    func keptEvents() throws {
        var queue = EventQueue<ConnectionSignal>()
        var expected: [String] = []
        func append(_ event: ConnectionSignal) {
            queue.append(event)
            expected.append("\(event)")
        }
        append(.state(.connected))
        for port in 1...100 { append(.localCandidate(try Self.candidate(UInt16(port)), mid: "0", ufrag: "u")) }
        append(.state(.failed))
        #expect(Self.all(&queue) == expected)
    }

    @Test(
        "A slow reader gets the first connected state and the newest one",
        arguments: [
            ([.connecting, .connected], [.connecting, .connected]),
            ([.connecting, .connected, .disconnected], [.connecting, .connected, .disconnected]),
            ([.connecting, .connected, .disconnected, .connected], [.connecting, .connected]),
            ([.connected, .disconnected, .connected, .disconnected], [.connected, .disconnected]),
            ([.connected, .disconnected, .failed], [.connected, .disconnected, .failed]),
            ([.disconnected, .connected, .closed], [.connected, .closed]),
        ] as [([ConnectionState], [ConnectionState])])
    func mergedStates(states: [ConnectionState], read: [ConnectionState]) {
        var queue = EventQueue<ConnectionSignal>()
        for state in states { queue.append(.state(state)) }
        #expect(Self.all(&queue) == read.map { "\(ConnectionSignal.state($0))" })
    }

    @Test("Media are reported before their events, however often they change")
    func mediaFirst() {
        var queue = EventQueue<MediaEvent>()
        for round in 0..<1000 {
            queue.append(.remoteMediaChanged([]))
            queue.append(.activityChanged(round % 2 == 0 ? .flowing : .paused, receiver: 0))
        }
        let expected: [MediaEvent] = [.remoteMediaChanged([]), .activityChanged(.paused, receiver: 0)]
        #expect(Self.all(&queue) == expected.map { "\($0)" })
    }

    @Test(
        "A connection that is connected again or over needs no restart",
        arguments: [ConnectionState.connected, .failed, .closed])
    func outdatedRestart(state: ConnectionState) {
        var queue = EventQueue<ConnectionSignal>()
        for signal in [.restartNeeded, .state(state)] as [ConnectionSignal] { queue.append(signal) }
        #expect(Self.all(&queue) == ["\(ConnectionSignal.state(state))"])
    }

    @Test("Candidates and their end are those of one description")
    func outdatedCandidates() throws {
        func signals(_ ufrag: String) throws -> [ConnectionSignal] {
            [.localCandidate(try Self.candidate(9), mid: "0", ufrag: ufrag), .localCandidatesEnded(ufrag: ufrag)]
        }
        let (former, current) = (try signals("former"), try signals("current"))
        for signals in [current, [current[0]], [current[1]]] {
            var queue = EventQueue<ConnectionSignal>()
            for signal in former + signals { queue.append(signal) }
            #expect(Self.all(&queue) == signals.map { "\($0)" })
        }
    }

    @Test("Frames that can't be encoded outdate no other event of their stream")
    func failedFrames() {
        var queue = EventQueue<VideoSendStream.Event>()
        queue.append(.began(VideoTrack(id: "track", source: PushVideoSource())))
        queue.append(.audienceChanged)
        for _ in 0..<100 { queue.append(.failed(.threadFailed(reason: "none"))) }
        #expect(queue.count == 3)
        guard case .began? = queue.takeFirst() else {
            Issue.record("the first frame is not reported")
            return
        }
    }

    @Test("A cancelled loop takes no events of another one")
    func cancelledLoop() async {
        let events = PendingEvents<ConnectionSignal>()
        let cancelled = Task { [stream = events.stream] in
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in stream { Issue.record("a cancelled loop gets an event") }
        }
        await cancelled.value
        events.append(.state(.connected))
        var iterator = events.stream.makeAsyncIterator()
        #expect(await iterator.next().map { "\($0)" } == "\(ConnectionSignal.state(.connected))")
    }

    @Test("The end of a receiver is reported also if other media replace it")
    func endedReceiver() {
        var queue = EventQueue<MediaEvent>()
        let activities: [ReceiverActivity] = [.flowing, .ended, .flowing, .lost, .ended, .paused, .flowing]
        for activity in activities { queue.append(.activityChanged(activity, receiver: 0)) }
        let expected = [ReceiverActivity.ended, .flowing].map { MediaEvent.activityChanged($0, receiver: 0) }
        #expect(Self.all(&queue) == expected.map { "\($0)" })
    }

    @Test("A stream delivers waiting and new events, and ends when it is finished or its reader is cancelled")
    func eventStream() async {
        let events = PendingEvents<ConnectionSignal>()
        events.append(.state(.connected))
        var iterator = events.stream.makeAsyncIterator()
        #expect(await iterator.next().map { "\($0)" } == "\(ConnectionSignal.state(.connected))")
        let reading = Task { [stream = events.stream] in
            var read: [String] = []
            for await event in stream { read.append("\(event)") }
            return read
        }
        events.append(.state(.disconnected))
        events.append(.state(.closed))
        events.finish()
        events.append(.state(.connected))
        let read = await reading.value
        #expect(read == [ConnectionState.disconnected, .closed].map { "\(ConnectionSignal.state($0))" })

        let others = PendingEvents<ConnectionSignal>()
        let waiting = Task { [stream = others.stream] in
            for await _ in stream {}
        }
        waiting.cancel()
        await waiting.value
    }
}
