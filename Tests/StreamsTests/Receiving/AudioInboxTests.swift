import RTCShareLocks
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// The effect of each event in each stage of an audio inbox.
@Suite struct AudioInboxTests {
    private static func packet(_ number: Int64) -> ReceivedAudioPacket {
        ReceivedAudioPacket(
            payload: [1], sequenceNumber: number, timestamp: number * 960, sampleCount: 960,
            arrival: Instant(nanoseconds: 0), captureTime: nil, level: nil, marker: false)
    }

    /// Returns an inbox in a stage, after a packet. It is `heard` if there is a sink when it is announced.
    private static func inbox(_ stage: String) -> AudioInbox {
        var inbox = AudioInbox()
        _ = inbox.receive(packet(0))
        if stage == "announcing" { return inbox }
        if stage != "idle" { inbox.play() }
        if stage == "heard" { return inbox }
        _ = inbox.announced()
        if stage == "ended" { inbox.finish() }
        return inbox
    }

    enum Event: String, CaseIterable { case packet, announced, sink, recorder, finish }

    private static func apply(_ event: Event, to inbox: inout AudioInbox) {
        switch event {
        case .packet: _ = inbox.receive(packet(1))
        case .announced: _ = inbox.announced()
        case .sink: inbox.play()
        case .recorder: _ = inbox.add { _ in }
        case .finish: inbox.finish()
        }
    }

    /// Returns the next action of the player.
    private static func next(_ inbox: inout AudioInbox, at tick: Duration? = nil, now: Duration = .zero) -> String {
        switch inbox.next(at: tick, now: now) {
        case .done(.play(let packets, _)): "plays \(packets.count)"
        case .done(.end): "ends"
        case .wait(until: let time): time.map { "waits until \($0 / .milliseconds(1))" } ?? "waits"
        }
    }

    /// The stage after an event, and the player's next action.
    private static let table: [(stage: String, expected: [Event: String])] = [
        (
            "announcing",
            [
                .packet: "announcing waits", .announced: "idle waits", .sink: "announcing waits",
                .recorder: "announcing waits", .finish: "ended ends",
            ]
        ),
        (
            "heard",
            [
                .packet: "announcing waits", .announced: "playing plays 1", .sink: "announcing waits",
                .recorder: "announcing waits", .finish: "ended ends",
            ]
        ),
        (
            "idle",
            [
                .packet: "idle waits", .announced: "idle waits", .sink: "playing waits", .recorder: "idle waits",
                .finish: "ended ends",
            ]
        ),
        (
            "playing",
            [
                .packet: "playing plays 2", .announced: "playing plays 1", .sink: "playing plays 1",
                .recorder: "playing plays 1", .finish: "ended ends",
            ]
        ),
        (
            "ended",
            [
                .packet: "ended ends", .announced: "ended ends", .sink: "ended ends", .recorder: "ended ends",
                .finish: "ended ends",
            ]
        ),
    ]

    @Test("Each event leads each stage to the stage of the diagram")
    func stages() {
        for (stage, expected) in Self.table {
            for event in Event.allCases {
                var inbox = Self.inbox(stage)
                Self.apply(event, to: &inbox)
                let result = "\(inbox.stage) \(Self.next(&inbox))"
                #expect(result == expected[event], "\(event.rawValue) while \(stage)")
            }
        }
    }

    @Test("Packets that arrive before the program knows of the audio go to the sinks and recorders that it then adds")
    func keptPackets() {
        var inbox = AudioInbox()
        for number in 0..<3 { _ = inbox.receive(Self.packet(Int64(number))) }
        inbox.play()
        let recorder = inbox.add { _ in }
        var recorded: [Int64] = []
        while let (packet, recorders) = inbox.announced() {
            #expect(recorders.count == 1)
            recorded.append(packet.sequenceNumber)
            // Packets come meanwhile, and stay in order.
            if recorded.count == 2 { _ = inbox.receive(Self.packet(3)) }
        }
        #expect(recorded == [0, 1, 2, 3])
        #expect(Self.next(&inbox) == "plays 4")
        #expect(inbox.receive(Self.packet(4)).count == 1)
        inbox.removeRecorder(recorder)
        #expect(inbox.receive(Self.packet(5)).isEmpty, "it ended")
    }

    @Test("The oldest of too many waiting packets are dropped and counted")
    func overflow() {
        var inbox = Self.inbox("playing")
        for number in 0..<AudioInbox.maximumPackets + 9 { _ = inbox.receive(Self.packet(Int64(number))) }
        #expect(inbox.packetsDiscarded == 10)
        #expect(Self.next(&inbox) == "plays \(AudioInbox.maximumPackets)")
    }

    @Test("A player wakes for packets, for its delay and when a block is due, and only then")
    func waking() {
        var inbox = Self.inbox("playing")
        #expect(Self.next(&inbox) == "plays 1")
        let (due, before) = (Duration.milliseconds(20), Duration.milliseconds(19))
        #expect(Self.next(&inbox, at: due, now: before) == "waits until 20.0")
        #expect(Self.next(&inbox, at: due, now: due) == "plays 0")
        inbox.jitterBufferTarget = .milliseconds(80)
        #expect(Self.next(&inbox, at: due, now: before) == "plays 0")
        #expect(Self.next(&inbox, at: due, now: before) == "waits until 20.0")
    }
}
