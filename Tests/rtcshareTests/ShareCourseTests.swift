import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSignaling
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import rtcshare

@Suite("The course of a share") struct ShareCourseTests {
    typealias Situation = ShareCourse.Situation
    typealias Event = ShareCourse.Event

    /// The ways in which viewers reach a share.
    enum Kind: Sendable, CaseIterable {
        /// One viewer is invited.
        case invited
        /// Viewers join by a link.
        case served
        /// The share is published to two servers.
        case published
        /// Viewers join by a link, and the share is published to a server.
        case servedAndPublished

        func course(isRecording: Bool = false) -> ShareCourse {
            let servers = [.invited: 0, .served: 0, .published: 2, .servedAndPublished: 1][self] ?? 0
            return ShareCourse(
                isServed: self == .served || self == .servedAndPublished, servers: servers, isRecording: isRecording,
                duration: 90)
        }
    }

    /// An event in a situation, and its effects.
    struct Row: Sendable, CustomTestStringConvertible {
        let kind: Kind
        let situation: Situation
        let earlier: [Event]
        let event: Event
        let effects: [String]

        init(
            _ kind: Kind, _ event: Event, after earlier: [Event] = [], in situation: Situation = Situation(viewers: 1),
            _ effects: String...
        ) {
            (self.kind, self.event, self.earlier, self.situation) = (kind, event, earlier, situation)
            self.effects = effects
        }

        var testDescription: String { "\(kind), \(event) → \(effects)" }
    }

    private struct Failure: Error, CustomStringConvertible { let description = "broken" }

    private static let connected = Event.viewerConnected(name: "The viewer", isWaiting: false, refused: [])
    private static let codecs = VideoCodec.available.map(\.name).choice
    private static let failure = CommandFailure(.unavailable, "no route")
    private static let departure = "The viewer is disconnected: no route."
    private static let left = Event.viewerLeft(name: "The viewer", failure: nil, isRemoved: false, others: 0)
    private static let ended = "The share has ended: its source has ended."
    private static let stopped = "The share has stopped."
    private static let noViewer = "The share has ended: no viewer is left."
    private static let captureFailure = CaptureSourceError(.systemFailure, "no device")
    private static let loss = Explanation("the source has ended", remedy: "rtcshare switch SPEC")
    private static let lossReport = "The share stays paused: the source has ended.|Try: rtcshare switch SPEC"

    private static func failed(_ server: Int, _ policy: RetryPolicy = .permanent) -> Event {
        .publishingFailed(server: server, error: failure, policy, report: ["server \(server) failed"])
    }

    static let viewers: [Row] = [
        // The first viewer of an invited share starts it.
        Row(.invited, connected, "consume", "start capture", "The viewer is connected."),
        Row(.invited, connected, after: [connected], "The viewer is connected."),
        Row(.served, connected, "consume", "The viewer is connected."),
        Row(.served, connected, after: [connected], "The viewer is connected."),
        Row(.published, connected, "consume", "start capture", "The viewer is connected."),
        Row(.served, .viewerConnected(name: "Viewer 2", isWaiting: true, refused: []), "consume"),
        // The answer rejects media.
        Row(
            .invited, .viewerConnected(name: "The viewer", isWaiting: false, refused: [.content, .microphone]),
            "fail the viewer's answer rejects the shared video: it must receive \(codecs) in that section"),
        Row(
            .invited, .viewerConnected(name: "Viewer 2", isWaiting: false, refused: [.content]),
            after: [connected], in: Situation(viewers: 2), "Viewer 2 is connected.",
            "Viewer 2 receives no video: its answer rejects it."),
        Row(
            .served, .viewerConnected(name: "Viewer 1", isWaiting: false, refused: [.camera, .content]), "consume",
            "Viewer 1 is connected.", "Viewer 1 receives no video: its answer rejects it.",
            "Viewer 1 receives no camera: its answer rejects it."),
        Row(
            .invited, .viewerConnected(name: "The viewer", isWaiting: false, refused: [.contentAudio]), "consume",
            "start capture", "The viewer is connected.", "The viewer receives no audio: its answer rejects it."),
        // The connection is lost.
        Row(
            .served, .viewerUnresponsive(name: "Viewer 1"),
            "Viewer 1 does not answer. Waiting for it to come back."),
        Row(.served, .viewerReconnected(name: "Viewer 1"), "Viewer 1 is back."),
        // The last invited viewer ends the share.
        Row(.invited, left, "The viewer left.", noViewer, "end"),
        Row(
            .invited, .viewerLeft(name: "The viewer", failure: failure, isRemoved: false, others: 0),
            "fail no route"),
        Row(
            .invited, .viewerLeft(name: "The viewer", failure: failure, isRemoved: true, others: 0), "fail no route"),
        Row(.invited, .viewerLeft(name: "The viewer", failure: nil, isRemoved: true, others: 0), noViewer, "end"),
        Row(
            .invited, .viewerLeft(name: "The viewer", failure: failure, isRemoved: false, others: 1), departure),
        Row(.invited, .viewerLeft(name: "The viewer", failure: nil, isRemoved: true, others: 1)),
        Row(.served, left, "The viewer left."),
        Row(.served, .viewerLeft(name: "The viewer", failure: failure, isRemoved: false, others: 0), departure),
        Row(.published, left, "The viewer left."),
        Row(
            .served, .viewerWaiting(name: "Viewer 3", command: "rtcshare admit 3"),
            "Viewer 3 is waiting to be admitted.|Run: rtcshare admit 3"),
    ]

    private static let serversOnly = Situation()
    private static let givenUp = Situation(areServersGivenUp: true)
    private static let published = Event.published(report: ["published"])

    static let servers: [Row] = [
        Row(.published, published, in: serversOnly, "published", "consume", "start capture"),
        Row(.published, published, after: [published], in: serversOnly, "published"),
        Row(.servedAndPublished, published, in: serversOnly, "published", "consume"),
        Row(.published, .serverChanged(report: ["server 1 answers again"]), "server 1 answers again"),
        // A share that is only published ends if the first attempts of all servers fail, unless one of them can be
        // retried.
        Row(.published, failed(1), in: serversOnly, "server 1 failed"),
        Row(.published, failed(2), after: [failed(1)], in: serversOnly, "fail no route"),
        Row(.published, failed(1), after: [failed(1)], in: serversOnly, "server 1 failed"),
        Row(.published, failed(2, .transient), after: [failed(1, .transient)], in: serversOnly, "fail no route"),
        Row(.published, failed(2), after: [failed(1, .retry(after: nil))], in: serversOnly, "server 2 failed"),
        Row(.published, failed(2), after: [failed(1)], "server 2 failed"),
        Row(.published, failed(2), after: [published, failed(1)], in: serversOnly, "server 2 failed"),
        Row(.servedAndPublished, failed(1), in: givenUp, "server 1 failed"),
        // If all servers fail permanently later, the share ends, too.
        Row(.published, failed(2), after: [published], in: givenUp, "fail no route"),
        Row(
            .published, failed(2), after: [published], in: Situation(viewers: 1, areServersGivenUp: true),
            "server 2 failed"),
    ]

    private static let paused = Situation(isPaused: true, lossDuringPause: loss)
    private static let endedUnseen = Situation(captureEnd: .success(()))
    private static let endedSeen = Situation(captureEnd: .success(()), isContentSent: true)

    static let sources: [Row] = Kind.allCases.flatMap { kind in
        [
            Row(kind, .sourceEnded(nil), ended, "end"),
            Row(kind, .sourceEnded(Failure()), "fail broken"),
            Row(kind, .sourceEnded(nil), in: paused),
            Row(kind, .sourceEnded(Failure()), in: paused),
            Row(kind, .captureEnded, in: paused, lossReport),
            Row(kind, .captureEnded, in: endedUnseen, ended, "end"),
            Row(kind, .captureEnded, in: Situation(captureEnd: .failure(captureFailure)), "fail \(captureFailure)"),
            // The frames before the end are sent first.
            Row(kind, .captureEnded, in: endedSeen),
            Row(kind, .second, in: endedSeen),
            Row(kind, .second, in: endedUnseen, ended, "end"),
            Row(kind, .second, in: Situation(captureEnd: .failure(captureFailure)), "fail \(captureFailure)"),
            Row(kind, .second), Row(kind, .second, in: paused),
            Row(kind, .captureFailedToStart(Failure()), "fail broken"),
            Row(
                kind, .otherSourceEnded(name: "camera", nil),
                "The camera has ended. The share continues without it."),
            Row(
                kind, .processorTooSlow(codec: "AV1", replacement: "VP8"),
                "The processor is too slow for AV1: viewers receive VP8 for some time."),
            Row(
                kind, .sourceSilent(.seconds(10)),
                "The source has given no frame for 10 seconds. The share waits for one."),
        ]
    }

    static let ends: [Row] = Kind.allCases.flatMap { kind in
        [
            Row(kind, .stopRequested, "consume", stopped, "end"),
            Row(kind, .stopRequested, after: [connected], in: endedSeen, stopped, "end"),
            Row(kind, .sessionRemoved, "The share has ended: its session file was removed.", "end"),
            Row(kind, .durationOver, "The share has ended after 90 seconds.", "end"),
        ]
    }

    static func words(for effect: ShareCourse.Effect) -> String {
        switch effect {
        case .say(let lines), .mention(let lines): lines.joined(separator: "|")
        case .consume: "consume"
        case .startCapture: "start capture"
        case .end: "end"
        case .fail(let error as CommandFailure): "fail \(error.message)"
        case .fail(let error): "fail \(error)"
        }
    }

    @Test(
        "An event in each situation has the effects that the table gives", arguments: viewers + servers + sources + ends
    )
    func effects(row: Row) {
        var course = row.kind.course()
        for event in row.earlier { _ = course.receive(event, in: row.situation) }
        #expect(course.receive(row.event, in: row.situation).map(Self.words) == row.effects)
    }

    @Test("The end of the capture does not end a share that is recorded", arguments: Kind.allCases)
    func recording(kind: Kind) {
        var course = kind.course(isRecording: true)
        for event in [Event.captureEnded, .second] { #expect(course.receive(event, in: Self.endedUnseen).isEmpty) }
        #expect(course.receive(.sourceEnded(nil), in: Self.endedUnseen).map(Self.words) == [Self.ended, "end"])
    }

    @Test(
        "A share whose capture has ended ends after ten seconds if the encoder does not report the end",
        arguments: Kind.allCases, [false, true])
    func unreportedEnd(kind: Kind, isRecording: Bool) {
        var course = kind.course(isRecording: isRecording)
        let end = isRecording ? Self.endedUnseen : Self.endedSeen
        // Other content replaces content that has ended: a second before its own end, directly before it, and not at all.
        for situation in [Situation(), nil, end] {
            #expect(course.receive(.captureEnded, in: end).isEmpty)
            for _ in 1..<ShareCourse.mostSecondsToEnd { #expect(course.receive(.second, in: end).isEmpty) }
            guard let situation else { continue }
            #expect(course.receive(.second, in: situation).isEmpty == (situation.captureEnd == nil))
        }
    }

    @Test("Only shares for invited viewers end with the last viewer", arguments: Kind.allCases)
    func outlivesViewers(kind: Kind) { #expect(kind.course().outlivesViewers == (kind != .invited)) }
}
