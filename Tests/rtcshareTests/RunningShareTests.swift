import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCShareSignaling
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import rtcshare

@SharingActor @Suite("A running share", .timeLimit(.minutes(1)))
struct RunningShareTests {
    enum Event: CaseIterable, Sendable {
        case pause, pauseWithSlate, resume, replace, sourceEnds, slateTimeEnds, mute, unmute
    }

    /// The situation of a share, which determines the visible content and the stopped sources.
    enum Situation: CaseIterable, Sendable {
        case live
        /// Viewers keep the last frame.
        case held
        /// Viewers keep the last frame of a source that was replaced in the meantime.
        case keeping
        /// Viewers see a slate that is not sharp yet.
        case slate
        /// Viewers see a slate, and that the share is paused.
        case sharpSlate
    }

    /// The next situation for each event. Other events change nothing.
    static let table: [Situation: [Event: Situation]] = [
        .live: [.pause: .held, .pauseWithSlate: .slate],
        .held: [.pauseWithSlate: .slate, .resume: .live, .replace: .keeping],
        .keeping: [.pauseWithSlate: .slate, .resume: .live],
        .slate: [.resume: .live, .slateTimeEnds: .sharpSlate],
        .sharpSlate: [.resume: .live],
    ]

    /// The events that lead from a running share to each situation.
    static let ways: [(Situation, [Event])] = [
        (.live, []), (.held, [.pause]), (.keeping, [.pause, .replace]), (.slate, [.pauseWithSlate]),
        (.sharpSlate, [.pauseWithSlate, .slateTimeEnds]),
    ]

    private static let alreadyPaused = "The share is already paused."
    private static let slateIsShown = "The share is already paused: viewers see a slate."

    /// The notices of requests that change nothing.
    static let notices: [Situation: [Event: String]] = [
        .live: [.resume: "The share is not paused."],
        .held: [.pause: alreadyPaused], .keeping: [.pause: alreadyPaused],
        .slate: [.pause: slateIsShown, .pauseWithSlate: slateIsShown],
        .sharpSlate: [.pause: slateIsShown, .pauseWithSlate: slateIsShown],
    ]

    /// A share with fakes, and its situation in the table.
    @SharingActor private final class Stage {
        let output: FakeOutput
        let time: VirtualTime
        let share: RunningShare
        let opener = FakeOpener()
        private var opened: [FakeSource]
        private let events = AsyncStream.makeStream(of: Share.Occurrence.self)

        private(set) var situation = Situation.live
        private var content: FakeSource
        private var kept: FakeSource?
        private var isMuted = false
        private var hasEnded = false
        private var ends = 0
        private var slates = 0
        /// The occurrences that the share has reported. They are complete after it is finished.
        private(set) var occurrences: [Share.Occurrence] = []

        init(
            _ content: FakeSource = FakeSource("1"), capturing: Bool = true, hasMicrophone: Bool = true,
            hasBegun: Bool = true
        ) async throws {
            let (output, time) = (FakeOutput(), VirtualTime())
            (self.content, self.output, self.time) = (content, output, time)
            opened = [content]
            share = RunningShare(
                room: try SharingRoom(owner: AttendeeID("alice")),
                sources: try .fakes(content, hasMicrophone: hasMicrophone), options: try ServeCommand.parsed().sharing,
                inviting: RunningShare.Inviting(
                    media: [.content, .camera], configuration: Connection.Configuration(), policy: nil),
                events: events.continuation, output: output,
                openContent: { [opener] specification, _ in try opener.open(specification) },
                sleep: { try await time.sleep(for: $0) })
            if hasBegun { try await share.begin() }
            if capturing { try await share.startCapture() }
        }

        /// Executes the event, and returns the notice.
        func perform(_ event: Event) async throws -> String? {
            switch event {
            case .pause: return try await share.pause(showingSlate: false)
            case .pauseWithSlate: return try await share.pause(showingSlate: true)
            case .resume: return try await share.resume()
            case .replace: try await replace(with: FakeSource("\(opened.count + 1)"))
            case .sourceEnds:
                await endContent()
            case .slateTimeEnds:
                time.advance(by: .seconds(2))
                await share.slateMuting?.value
            case .mute, .unmute:
                isMuted = event == .mute
                _ = try share.mute(.all, isMuted)
            }
            return nil
        }

        /// Ends the content's capture.
        func endContent() async {
            content.end()
            await settle()
            (hasEnded, ends) = (true, ends + 1)
        }

        /// Handles the occurrences up to now, and returns their effects.
        func handleOccurrences() async -> [String] {
            await share.handle(events.stream) { occurrences.append($0) }
        }

        func replace(with source: FakeSource, canWait: Bool = false) async throws {
            try await share.change(to: try add(source, canWait: canWait))
        }

        /// Returns the request of an event.
        func request(_ event: Event) throws -> ControlRequest {
            switch event {
            case .pauseWithSlate: .pause(slate: true)
            case .resume: .resume
            case .replace: .source(try add(FakeSource("\(opened.count + 1)")))
            case .mute: .mute(.all)
            case .unmute: .unmute(.all)
            case .pause, .sourceEnds, .slateTimeEnds: .pause(slate: false)
            }
        }

        /// Returns the state of the share, and the media that viewers get when it is not paused.
        func outcome() async -> [String] {
            let state = share.content
            let before = [
                state.current.specification, "paused \(state.isPaused)", "slate \(state.isSlateShown)",
                "muted \(output.isAudioMuted) \(output.isMicrophoneMuted)",
            ]
            if state.isPaused { _ = await share.answer(.resume) }
            await share.runner.finish()
            return before + [output.view, "muted \(output.isAudioMuted)"] + runningSources.sorted()
        }

        /// The effects of the end of content that is shown, but not sent.
        static let end = ["The share has ended: its source has ended.", "end"]
        /// The effect of the end of content during a pause.
        static let loss = "The share stays paused: the source has ended.|Try: rtcshare switch SPEC"

        /// Adds a source that a request can open.
        func add(_ source: FakeSource, canWait: Bool = false, gate: Gate? = nil) throws -> SourceSpecification {
            opened.append(source)
            return try opener.add("\(source)", source, canWait: canWait, gate: gate)
        }

        /// The names of the sources that run.
        var runningSources: Set<String> { Set(opened.filter(\.isRunning).map(\.description)) }

        /// Executes the event, and follows it in the table.
        func follow(_ event: Event, _ story: [Event]) async throws {
            if event == .resume, hasEnded, situation != .live {
                let failure = await #expect(throws: CommandFailure.self, "\(story)") { try await perform(event) }
                #expect(failure?.message == "the source has ended" && failure?.remedy == "rtcshare switch SPEC")
                return try await check("\(story)")
            }
            let notice = try await perform(event)
            #expect(notice == RunningShareTests.notices[situation]?[event], "\(story)")
            let reports = event != .sourceEnds ? [] : situation == .live ? Self.end : [Self.loss]
            #expect(await handleOccurrences() == reports, "\(story)")
            let next = RunningShareTests.table[situation]?[event] ?? situation
            if event == .replace {
                if next == .keeping, situation == .held { kept = content }
                content = try #require(opened.last)
                hasEnded = false
            }
            if next != .keeping { kept = nil }
            if next == .slate, situation != .slate {
                slates += 1
                await waitUntil { time.sleeps == slates }
            }
            situation = next
            try await check("\(story)")
        }

        /// Compares the visible content and the running sources with the situation.
        func check(_ story: String) async throws {
            await share.runner.finish()
            let isSlate = situation == .slate || situation == .sharpSlate
            let isVideoMuted = [.held, .keeping, .sharpSlate].contains(situation)
            let view = (isSlate ? "slate" : "\(kept ?? content)") + (isVideoMuted ? " (muted)" : "")
            #expect(output.view == view, "\(story)")
            #expect(output.isAudioMuted == (isMuted || situation != .live), "\(story)")
            #expect(output.isMicrophoneMuted == isMuted, "\(story)")
            let running = Set([content, kept].compactMap { $0?.description })
            #expect(runningSources == running, "\(story)")
            #expect(output.runningSlates == (isSlate ? 1 : 0), "\(story)")
            let state = share.content
            #expect(state.isPaused == (situation != .live) && state.isSlateShown == isSlate, "\(story)")
            #expect(state.current.source === content, "\(story)")
            #expect((state.end != nil) == (hasEnded && situation == .live), "\(story)")
            #expect((share.interruption != nil) == (hasEnded && situation != .live), "\(story)")
        }

        /// Stops everything, and returns the number of unexpected and missed ends of sources.
        func finish() async -> Int {
            await share.stopCapture()
            #expect(opened.allSatisfy { !$0.isRunning })
            #expect(output.runningSlates == 0)
            await settle()
            events.continuation.finish()
            for await occurrence in events.stream { occurrences.append(occurrence) }
            return occurrences.count { occurrence in
                if case .captureEnded(let observer) = occurrence, case .content = observer.role { true } else { false }
            } - ends
        }
    }

    @Test(
        "After each sequence of two or three events, viewers see the table's content, and no other source runs",
        arguments: Event.allCases, Event.allCases)
    func orders(first: Event, second: Event) async throws {
        for third in Event.allCases {
            let stage = try await Stage()
            var story: [Event] = []
            for event in [first, second, third] {
                story.append(event)
                try await stage.follow(event, story)
            }
            #expect(await stage.finish() == 0, "\(story)")
        }
    }

    @Test(
        "An event in each situation has the result that the table gives", arguments: Situation.allCases,
        Event.allCases)
    func situations(situation: Situation, event: Event) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        #expect(stage.situation == situation)
        try await stage.follow(event, way + [event])
        #expect(await stage.finish() == 0)
    }

    @Test(
        "A source or slate that the room rejects changes nothing, in each situation",
        arguments: [
            (Situation.live, Event.pauseWithSlate), (.held, .pauseWithSlate), (.keeping, .pauseWithSlate),
            (.keeping, .resume), (.slate, .resume), (.sharpSlate, .resume), (.live, .replace),
        ])
    func rejections(situation: Situation, event: Event) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        stage.output.refuseNext()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.perform(event) }
        try await stage.check("\(situation), rejected \(event)")
        if situation == .slate { try await stage.follow(.slateTimeEnds, [event, .slateTimeEnds]) }
        #expect(await stage.finish() == 0)
    }

    @Test("A source that can't start changes nothing", arguments: Situation.allCases)
    func brokenSource(situation: Situation) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        await #expect(throws: FakeSource.Failure.self) {
            try await stage.replace(with: FakeSource("broken", start: .fails))
        }
        try await stage.check("\(situation)")
        #expect(await stage.finish() == 0)
    }

    @Test("A source that ended before it is shown changes nothing", arguments: Situation.allCases)
    func endedSource(situation: Situation) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        let failure = await #expect(throws: CommandFailure.self) {
            try await stage.replace(with: FakeSource("ended", start: .ends))
        }
        #expect(failure?.message == "the source has ended")
        try await stage.check("\(situation)")
        #expect(await stage.finish() == 0)
    }

    @Test("A slate is muted after its own delay, and not after that of an earlier slate")
    func earlierSlate() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        stage.time.advance(by: .seconds(1))
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate, .resume, .pauseWithSlate])
        stage.time.advance(by: .seconds(1))
        try await stage.check("one second")
        stage.time.advance(by: .seconds(1))
        await stage.share.slateMuting?.value
        #expect(stage.output.view == "slate (muted)")
        #expect(await stage.finish() == 0)
    }

    @Test("The end of a slate's delay while the share resumes does not pause the share")
    func slateTimeDuringResume() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        stage.output.whileShowingNext {
            stage.time.advance(by: .seconds(2))
            await stage.share.slateMuting?.value
        }
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        #expect(await stage.finish() == 0)
    }

    @Test(
        "Muted audio stays muted while a source or a slate starts",
        arguments: [(Situation.live, Event.pauseWithSlate), (.keeping, .resume), (.slate, .resume), (.live, .replace)])
    func soundWhileSourceBegins(situation: Situation, event: Event) async throws {
        let stage = try await Stage()
        let way = [.mute] + (try #require(Self.ways.first { $0.0 == situation }).1)
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        try await stage.follow(event, way + [event])
        #expect(stage.output.wasSoundMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("The audio of a paused share is muted from the first moment of a slate")
    func soundOfSlate() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        #expect(stage.output.wasSoundMuted)
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        #expect(!stage.output.wasSoundMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("A microphone that the share does not have is not muted")
    func muteWithoutMicrophone() async throws {
        let stage = try await Stage(hasMicrophone: false)
        #expect(try stage.share.mute(.all, true) == "The audio is muted.")
        #expect(stage.share.sounds.isAudioMuted && !stage.share.sounds.isMicrophoneMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("The audio that a mute of all audio has silenced is unmuted, and the content's audio without such a mute")
    func silencedAudio() async throws {
        let stage = try await Stage()
        let cases: [(mutes: [ControlRequest], isAudioMuted: Bool, isMicrophoneMuted: Bool)] = [
            ([.mute(.all)], false, false),
            ([.mute(.microphone), .mute(.all), .mute(.all)], false, true),
            ([.mute(.audio), .unmute(.microphone), .mute(.all)], true, false),
            ([.unmute(.all), .mute(.audio), .mute(.microphone)], false, true),
            ([.unmute(.all), .mute(.all), .mute(.microphone)], false, true),
        ]
        for (mutes, isAudioMuted, isMicrophoneMuted) in cases {
            for request in mutes + [.unmuteSilenced] { #expect(await stage.share.answer(request).reason == nil) }
            #expect(stage.output.isAudioMuted == isAudioMuted, "\(mutes)")
            #expect(stage.output.isMicrophoneMuted == isMicrophoneMuted, "\(mutes)")
        }
        #expect(await stage.finish() == 0)
    }

    @Test("Without other audio, the microphone is unmuted")
    func silencedMicrophone() throws {
        var sources = try OpenedSources.fakes(FakeSource("1"))
        sources.audio = []
        var sounds = ShareSounds(sources, events: AsyncStream.makeStream(of: Share.Occurrence.self).continuation)
        _ = try sounds.mute(.microphone, true)
        _ = try sounds.unmuteSilenced()
        #expect(!sounds.isMicrophoneMuted)
    }

    @Test("The end of a source ends the share only after viewers are shown the source")
    func endDuringResume() async throws {
        let stage = try await Stage()
        for (index, event) in [Event.pause, .replace].enumerated() {
            try await stage.follow(event, Array([.pause, .replace][...index]))
        }
        let shown = try #require(stage.share.content.current.source as? FakeSource)
        stage.output.whileShowingNext {
            shown.end()
            await settle()
            // The change can still fail.
            #expect(stage.share.captureEnd == nil)
        }
        #expect(try await stage.perform(.resume) == nil)
        #expect(stage.share.captureEnd != nil)
        _ = await stage.finish()
        #expect(
            stage.occurrences.contains {
                if case .sourceEnded(let source, nil) = $0 { source === shown } else { false }
            })
    }

    @Test("An end that is handled after a switch does not end the share, and the end of the new source does")
    func lateEnd() async throws {
        let stage = try await Stage()
        let first = stage.share.content.current
        try await stage.replace(with: FakeSource("2"))
        let second = stage.share.content.current
        for occurrence in [Share.Occurrence.sourceEnded(first.source, nil), .captureEnded(first.observer)] {
            #expect(await stage.share.effects(of: occurrence).isEmpty)
        }
        #expect(await stage.share.effects(of: .sourceEnded(second.source, nil)).count == 2)
        (second.source as? FakeSource)?.end()
        await settle()
        #expect(await stage.share.effects(of: .captureEnded(second.observer)).count == 2)
        _ = await stage.finish()
    }

    @Test("A source that ends while it is rejected does not end the share")
    func endOfRejected() async throws {
        let stage = try await Stage()
        let next = FakeSource("2")
        stage.output.whileShowingNext { next.end() }
        stage.output.refuseNext()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.replace(with: next) }
        await stage.share.runner.finish()
        #expect(await stage.handleOccurrences().isEmpty)
        #expect(stage.share.captureEnd == nil && stage.output.view == "1")
        #expect(await stage.finish() == 0)
    }

    /// The changes that show another source or a slate, in each situation.
    nonisolated static let shows: [(Situation, Event)] = [
        (.live, .pauseWithSlate), (.held, .pauseWithSlate), (.keeping, .pauseWithSlate), (.keeping, .resume),
        (.slate, .resume), (.sharpSlate, .resume), (.live, .replace),
    ]

    @Test("The end of content during a change has one report, by the result of the change", arguments: shows, 0..<4)
    func endDuringChange(show: (Situation, Event), variant: Int) async throws {
        let (situation, event) = show
        let (isRejected, isHandledInBetween) = (variant & 1 == 1, variant & 2 == 2)
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        stage.output.whileShowingNext {
            await stage.endContent()
            if isHandledInBetween { #expect(await stage.handleOccurrences().isEmpty) }
        }
        if isRejected {
            stage.output.refuseNext()
            await #expect(throws: FakeOutput.Refusal.self) { try await stage.perform(event) }
        } else {
            #expect(try await stage.perform(event) == nil)
        }
        await stage.share.runner.finish()
        let isReplaced = event == .replace && !isRejected
        let reports = isReplaced ? [] : stage.share.content.isPaused ? [Stage.loss] : Stage.end
        #expect(await stage.handleOccurrences() == reports)
        _ = await stage.finish()
    }

    @Test("The end of content that nobody is sent ends the share, and otherwise its last frames have ten seconds")
    func unreportedEnd() async throws {
        let stage = try await Stage()
        stage.output.isContentSent = true
        await stage.endContent()
        #expect(await stage.handleOccurrences().isEmpty)
        for _ in 1..<ShareCourse.mostSecondsToEnd {
            #expect(await stage.share.effects(of: .course(.second)).isEmpty)
        }
        #expect(await stage.share.effects(of: .course(.second)).count == 2)
        try await stage.replace(with: FakeSource("2"))
        #expect(await stage.share.effects(of: .course(.second)).isEmpty)
        stage.output.isContentSent = false
        (stage.share.content.current.source as? FakeSource)?.end()
        #expect(await stage.handleOccurrences() == Stage.end)
        _ = await stage.finish()
    }

    @Test("A share without viewers can't be paused, but its source can be replaced")
    func beforeCapture() async throws {
        let stage = try await Stage(capturing: false)
        for event in [Event.pause, .pauseWithSlate] {
            let failure = await #expect(throws: CommandFailure.self) { try await stage.perform(event) }
            #expect(failure?.status == .unavailable)
        }
        #expect(try await stage.perform(.resume) == "The share is not paused.")
        let next = FakeSource("2")
        try await stage.replace(with: next)
        #expect(stage.output.view == "2")
        #expect(!next.isRunning)
        try await stage.share.startCapture()
        #expect(next.isRunning)
        #expect(await stage.finish() == 0)
    }

    @Test("The encoder delays only the content that can wait, not a slate over it")
    func contentThatCanWait() async throws {
        let stage = try await Stage()
        #expect(!stage.output.canShownWait)
        try await stage.replace(with: FakeSource("2"), canWait: true)
        #expect(stage.output.canShownWait)
        stage.output.refuseNext()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.replace(with: FakeSource("3")) }
        _ = try await stage.perform(.pauseWithSlate)
        #expect(!stage.output.canShownWait)
        _ = try await stage.perform(.resume)
        #expect(stage.output.canShownWait)
        #expect(await stage.finish() == 0)
    }

    // MARK: Requests at the same time

    private static let overtaken =
        "file:2.y4m: another source was chosen while this one was opening"

    @Test("Of two switches, the one that was requested last stays, even if its source opens first")
    func switchDuringOpening() async throws {
        let stage = try await Stage()
        let (gate, late, early) = (Gate(), FakeSource("2"), FakeSource("3"))
        let (first, second) = (try stage.add(late, gate: gate), try stage.add(early))
        async let answer = stage.share.answer(.source(first))
        await waitUntil { gate.isReached }
        try await stage.share.change(to: second)
        gate.open()
        #expect(await answer.reason == Self.overtaken)
        await stage.share.runner.finish()
        #expect(stage.output.view == "3" && !late.isRunning && early.isRunning)
        _ = await stage.finish()
    }

    @Test("A switch whose source can't be opened leaves an earlier switch that is opening")
    func failureDuringOpening() async throws {
        let stage = try await Stage()
        let gate = Gate()
        let first = try stage.add(FakeSource("2"), gate: gate)
        async let answer = stage.share.answer(.source(first))
        await waitUntil { gate.isReached }
        let missing = try stage.opener.add("missing", nil)
        await #expect(throws: FakeOpener.Failure.self) { try await stage.share.change(to: missing) }
        gate.open()
        #expect(await answer.reason == nil)
        #expect(stage.output.view == "2")
        _ = await stage.finish()
    }

    @Test("A switch that is requested during another one runs after it")
    func switchDuringSwitch() async throws {
        let stage = try await Stage()
        let second = try stage.add(FakeSource("2"))
        let third = try stage.add(FakeSource("3"))
        let isShowing = Gate()
        stage.output.whileShowingNext {
            await WorkerThread.run(named: "test") { isShowing.pass() }
            #expect(stage.output.view == "2")
        }
        async let first = stage.share.answer(.source(second))
        await waitUntil { isShowing.isReached }
        async let next = stage.share.answer(.source(third))
        await waitUntil { !stage.share.sourceTurns.waiting.isEmpty }
        isShowing.open()
        #expect(await [first.reason, next.reason] == [nil, nil])
        #expect(stage.output.view == "3")
        _ = await stage.finish()
    }

    @Test("A pause does not wait for a source that opens, which is shown at the end of the pause")
    func pauseDuringOpening() async throws {
        let stage = try await Stage()
        let gate = Gate()
        let specification = try stage.add(FakeSource("2"), gate: gate)
        async let answer = stage.share.answer(.source(specification))
        await waitUntil { gate.isReached }
        #expect(try await stage.share.pause(showingSlate: false) == nil)
        gate.open()
        #expect(await answer.notice == "The share will show file:2.y4m when you resume it.")
        #expect(stage.output.view == "1 (muted)")
        #expect(try await stage.share.resume() == nil)
        #expect(stage.output.view == "2")
        _ = await stage.finish()
    }

    @Test("A pause that is requested while a source is being shown holds that source")
    func pauseDuringSwitch() async throws {
        let stage = try await Stage()
        let specification = try stage.add(FakeSource("2"))
        let isShowing = Gate()
        stage.output.whileShowingNext { await WorkerThread.run(named: "test") { isShowing.pass() } }
        async let change = stage.share.answer(.source(specification))
        await waitUntil { isShowing.isReached }
        async let pause = stage.share.answer(.pause(slate: false))
        await waitUntil { !stage.share.sourceTurns.waiting.isEmpty }
        isShowing.open()
        #expect(await [change.reason, pause.reason] == [nil, nil])
        #expect(stage.output.view == "2 (muted)")
        _ = await stage.finish()
    }

    @Test("A mute during a switch applies to the new source")
    func muteDuringSwitch() async throws {
        let stage = try await Stage()
        stage.output.whileShowingNext { #expect(throws: Never.self) { try stage.share.mute(.all, true) } }
        try await stage.replace(with: FakeSource("2"))
        #expect(stage.output.isAudioMuted && stage.output.isMicrophoneMuted)
        _ = await stage.finish()
    }

    @Test("The end of a source that is being replaced is not the end of the share")
    func endDuringSwitch() async throws {
        let stage = try await Stage()
        let first = try #require(stage.share.content.current.source as? FakeSource)
        stage.output.whileShowingNext {
            first.end()
            await settle()
            #expect(stage.share.captureEnd == nil)
        }
        try await stage.replace(with: FakeSource("2"))
        #expect(await stage.handleOccurrences().isEmpty)
        _ = await stage.finish()
    }

    @Test("Ends during a change are handled once, after it, and not invented", arguments: [true, false])
    func heldBackEnd(isRejected: Bool) async throws {
        let stage = try await Stage()
        let first = stage.share.content.current
        let source = try #require(first.source as? FakeSource)
        stage.output.whileShowingNext {
            source.end()
            await settle()
            for occurrence in [Share.Occurrence.captureEnded(first.observer), .sourceEnded(first.source, nil)] {
                #expect(await stage.share.effects(of: occurrence).isEmpty)
            }
        }
        if isRejected {
            stage.output.refuseNext()
            await #expect(throws: FakeOutput.Refusal.self) { try await stage.share.pause(showingSlate: true) }
        } else {
            _ = try await stage.share.pause(showingSlate: true)
        }
        _ = await stage.finish()
        let ends: [String] = stage.occurrences.compactMap { occurrence in
            switch occurrence {
            case .captureEnded(let observer) where observer === first.observer: "capture"
            case .sourceEnded(let source, _) where source === first.source: "source"
            default: nil
            }
        }
        // The source reports its end when it ends, and both ends that came during the change follow.
        #expect(ends == ["capture", "capture", "source"])
    }

    @Test("Audio is muted from the beginning of a pause with a slate, also by another mute and unmute")
    func muteDuringPause() async throws {
        let stage = try await Stage()
        stage.output.whileShowingNext {
            #expect(throws: Never.self) { try stage.share.mute(.all, true) }
            #expect(throws: Never.self) { try stage.share.mute(.all, false) }
            #expect(stage.output.isAudioMuted)
        }
        _ = try await stage.share.pause(showingSlate: true)
        #expect(stage.output.isAudioMuted && !stage.output.isMicrophoneMuted)
        _ = await stage.finish()
    }

    @Test("A source that finishes opening after the capture started is started before it is shown")
    func captureBeginsDuringOpening() async throws {
        let stage = try await Stage(capturing: false)
        let (gate, next) = (Gate(), FakeSource("2"))
        let specification = try stage.add(next, gate: gate)
        async let answer = stage.share.answer(.source(specification))
        await waitUntil { gate.isReached }
        try await stage.share.startCapture()
        stage.output.whileShowingNext { #expect(next.isRunning) }
        gate.open()
        #expect(await answer.reason == nil)
        #expect(stage.output.view == "2")
        #expect(await stage.finish() == 0)
    }

    @Test("A capture that starts while a source is being shown starts that source")
    func captureBeginsDuringSwitch() async throws {
        let stage = try await Stage(capturing: false)
        let (isShowing, next) = (Gate(), FakeSource("2"))
        let specification = try stage.add(next)
        stage.output.whileShowingNext { await WorkerThread.run(named: "test") { isShowing.pass() } }
        async let answer = stage.share.answer(.source(specification))
        await waitUntil { isShowing.isReached }
        async let start: Void = stage.share.startCapture()
        await waitUntil { !stage.share.sourceTurns.waiting.isEmpty }
        isShowing.open()
        #expect(await answer.reason == nil)
        try await start
        #expect(next.isRunning)
        #expect(await stage.finish() == 0)
    }

    @Test("A stop during a start waits for the source, stops it and rejects later requests")
    func stopDuringStart() async throws {
        let gate = Gate()
        let stage = try await Stage(FakeSource("1", start: .waits(gate)), capturing: false)
        async let start: Void = stage.share.startCapture()
        await waitUntil { gate.isReached }
        async let stop: Void = stage.share.stopCapture()
        await waitUntil { stage.share.isEnding }
        #expect(await stage.share.answer(.pause(slate: false)).reason == "the share is about to end")
        gate.open()
        try await start
        await stop
        #expect(await stage.finish() == 0)
    }

    @Test("A source that opens while the share ends is stopped, and its request fails")
    func stopDuringOpening() async throws {
        let stage = try await Stage()
        let (gate, next) = (Gate(), FakeSource("2"))
        let specification = try stage.add(next, gate: gate)
        async let answer = stage.share.answer(.source(specification))
        await waitUntil { gate.isReached }
        await stage.share.stopCapture()
        gate.open()
        #expect(await answer.reason == "the share is about to end")
        await stage.share.runner.finish()
        #expect(!next.isRunning)
        #expect(await stage.finish() == 0)
    }

    @Test("A stop while a source is being shown stops that source")
    func stopDuringSwitch() async throws {
        let stage = try await Stage()
        let (isShowing, next) = (Gate(), FakeSource("2"))
        let specification = try stage.add(next)
        stage.output.whileShowingNext { await WorkerThread.run(named: "test") { isShowing.pass() } }
        async let answer = stage.share.answer(.source(specification))
        await waitUntil { isShowing.isReached }
        async let stop: Void = stage.share.stopCapture()
        await waitUntil { stage.share.isEnding }
        isShowing.open()
        #expect(await answer.reason == nil)
        await stop
        #expect(!next.isRunning && stage.runningSources.isEmpty)
        #expect(await stage.finish() == 0)
    }

    @Test("Parameters that are set during a switch apply to the new source")
    func setDuringSwitch() async throws {
        let stage = try await Stage()
        let isShowing = Gate()
        let specification = try stage.add(FakeSource("2"))
        stage.output.whileShowingNext { await WorkerThread.run(named: "test") { isShowing.pass() } }
        async let change = stage.share.answer(.source(specification))
        await waitUntil { isShowing.isReached }
        async let set = stage.share.answer(.set(VideoEncodingParameters(maxFramerate: 7)))
        await waitUntil { !stage.share.sourceTurns.waiting.isEmpty }
        isShowing.open()
        #expect(await [change.reason, set.reason] == [nil, nil])
        #expect(stage.output.view == "2" && stage.output.configuration?.maxFramerate == 7)
        #expect(await stage.finish() == 0)
    }

    @Test("A mute before the share starts applies to its first source")
    func muteBeforeBegin() async throws {
        let stage = try await Stage(capturing: false, hasBegun: false)
        _ = try stage.share.mute(.all, true)
        try await stage.share.begin()
        #expect(stage.output.wasSoundMuted && stage.output.isAudioMuted && stage.output.isMicrophoneMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("A pause does not wait for a change of viewers, but another change of viewers does")
    func pauseDuringInvitation() async throws {
        let stage = try await Stage()
        let isGathering = Gate()
        async let invitation: Void = stage.share.viewerTurns.run {
            await WorkerThread.run(named: "test") { isGathering.pass() }
        }
        await waitUntil { isGathering.isReached }
        async let kick = stage.share.answer(.kick(viewer: 7))
        await waitUntil { !stage.share.viewerTurns.waiting.isEmpty }
        #expect(await stage.share.answer(.pause(slate: false)).reason == nil)
        #expect(stage.output.view == "1 (muted)")
        isGathering.open()
        await invitation
        #expect(await kick.reason == "no viewer 7")
        #expect(await stage.finish() == 0)
    }

    @Test("A kick disconnects only viewers, and no publication or preview")
    func kickOfPublication() async throws {
        let stage = try await Stage()
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        let publication = try await stage.share.room.addViewer(configuration: configuration)
        #expect(await stage.share.answer(.kick(viewer: publication.id)).reason == "no viewer \(publication.id)")
        #expect(stage.share.room.viewers.map(\.id) == [publication.id])
        await stage.share.room.end()
        #expect(await stage.finish() == 0)
    }

    @Test("A preview belongs to the subgroups that the presenter joins, until the presenter leaves them")
    func previewInSubgroup() async throws {
        let stage = try await Stage()
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        let preview = try await stage.share.room.addViewer(configuration: configuration)
        stage.share.previews[preview.id] = preview.session
        let design = try Subgroup("design")
        _ = await stage.share.answer(.join(subgroup: "design"))
        #expect(stage.share.room.membership(of: preview.id) == RoomMembership(subgroups: [design]))
        _ = await stage.share.answer(.leave(subgroup: "design"))
        #expect(stage.share.room.membership(of: preview.id) == RoomMembership())
        await stage.share.room.end()
        #expect(await stage.finish() == 0)
    }

    /// A switch to a source whose start blocks.
    enum BlockedStart: CaseIterable, Sendable {
        /// The source is started when it is opened.
        case outsideTurn
        /// The share started to capture while the source was opening, so the source is started in its turn.
        case inTurn
    }

    /// Creates a share in which a switch to source 2 waits for `gate`.
    private func stage(
        _ start: BlockedStart, gate: Gate, next: FakeSource
    ) async throws -> (stage: Stage, answer: Task<ControlAnswer, Never>) {
        let opening = Gate()
        let stage = try await Stage(capturing: start == .outsideTurn)
        let specification = try stage.add(next, gate: start == .inTurn ? opening : nil)
        let answer = Task { await stage.share.answer(.source(specification)) }
        if start == .inTurn {
            await waitUntil { opening.isReached }
            try await stage.share.startCapture()
            opening.open()
        }
        await waitUntil { gate.isReached }
        return (stage, answer)
    }

    @Test("Status and mute don't wait for a source whose start blocks", arguments: BlockedStart.allCases)
    func statusDuringStart(start: BlockedStart) async throws {
        let gate = Gate()
        let (stage, answer) = try await stage(start, gate: gate, next: FakeSource("2", start: .waits(gate)))
        #expect(await stage.share.answer(.status).source == "1")
        #expect(await stage.share.answer(.mute(.audio)).notice == "The audio is muted.")
        gate.open()
        #expect(await answer.value.notice == "The share now shows file:2.y4m.")
        #expect(await stage.share.answer(.status).source == "file:2.y4m")
        #expect(stage.output.isAudioMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("A share ends while the start of a source blocks, and no source runs later", arguments: BlockedStart.allCases)
    func stopDuringBlockedStart(start: BlockedStart) async throws {
        let (gate, stopped) = (Gate(), Gate())
        let next = FakeSource("2", start: .waits(gate))
        let (stage, answer) = try await stage(start, gate: gate, next: next)
        await withTimeLimit(.milliseconds(50)) {
            await stage.share.stopCapture()
            stopped.open()
        }
        #expect(await stage.share.answer(.pause(slate: false)).reason == "the share is about to end")
        gate.open()
        _ = await answer.value
        await WorkerThread.run(named: "test") { stopped.pass() }
        await stage.share.runner.finish()
        #expect(stage.runningSources.isEmpty)
        #expect(await stage.finish() == 0)
    }

    @Test("A source whose start fails is stopped")
    func failedStart() async throws {
        let stage = try await Stage()
        let broken = FakeSource("broken", start: .fails)
        await #expect(throws: FakeSource.Failure.self) { try await stage.replace(with: broken) }
        #expect(broken.wasStopped)
        #expect(await stage.finish() == 0)
    }

    @Test(
        "Requests that are sent at the same time have the same outcome as one after the other",
        arguments: 0..<50 as Range<UInt64>)
    func requestsAtOnce(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let kinds: [Event] = [.pause, .pauseWithSlate, .resume, .replace, .mute, .unmute]
        let events = (0..<8).map { _ in kinds.randomElement(using: &random) ?? .pause }
        let (atOnce, inOrder) = (try await Stage(), try await Stage())
        var answers: [Task<ControlAnswer, Never>] = []
        for request in try events.map(atOnce.request) { answers.append(Task { await atOnce.share.answer(request) }) }
        for answer in answers { _ = await answer.value }
        for request in try events.map(inOrder.request) { _ = await inOrder.share.answer(request) }
        #expect(await atOnce.outcome() == inOrder.outcome(), "\(events)")
        for stage in [atOnce, inOrder] { #expect(await stage.finish() == 0, "\(events)") }
    }

    @Test("The light of a share without a camera can't be switched, and a camera can be added for it")
    func lightWithoutCamera() async throws {
        let stage = try await Stage()
        let answer = await stage.share.answer(.light(isOn: true))
        #expect(answer.reason == "--light: the share has no camera")
        #expect(answer.remedy == "rtcshare camera camera --light")
        #expect(await stage.finish() == 0)
    }

    // MARK: The camera

    @Test("A camera that ends while it is being replaced does not remove the new camera")
    func cameraEndDuringReplacement() async throws {
        let stage = try await Stage()
        let specification = try CameraSpecification("test:320x180@5")
        try await stage.share.change(camera: specification)
        let first = try #require(stage.share.camera)
        let isStarting = Gate()
        stage.output.whileStartingNextCamera { await WorkerThread.run(named: "test") { isStarting.pass() } }
        async let answer = stage.share.answer(.camera(specification))
        await waitUntil { isStarting.isReached }
        await WorkerThread.run(named: "test") { first.source.stop() }
        #expect(await stage.handleOccurrences().isEmpty)
        await waitUntil { !stage.share.sourceTurns.waiting.isEmpty }
        isStarting.open()
        #expect(await answer.reason == nil)
        await stage.share.sourceTurns.run {}
        #expect(await stage.handleOccurrences().isEmpty)
        let second = try #require(stage.share.camera)
        #expect(second.observer !== first.observer && stage.output.camera === second.source)
        _ = await stage.finish()
    }

    @Test("The end of a camera is reported after the camera is removed")
    func cameraEnd() async throws {
        let stage = try await Stage()
        try await stage.share.change(camera: CameraSpecification("test:320x180@5"))
        let camera = try #require(stage.share.camera)
        await WorkerThread.run(named: "test") { camera.source.stop() }
        #expect(await stage.handleOccurrences().isEmpty)
        await waitUntil { stage.share.cameraStatus == nil }
        #expect(stage.output.camera == nil)
        #expect(await stage.handleOccurrences() == ["The camera has ended. The share continues without it."])
        _ = await stage.finish()
    }

    @Test("A camera that can't be sent does not replace the current one")
    func rejectedCamera() async throws {
        let stage = try await Stage()
        let specification = try CameraSpecification("test:320x180@5")
        try await stage.share.change(camera: specification)
        let first = try #require(stage.share.camera)
        stage.output.refuseNextCamera()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.share.change(camera: specification) }
        #expect(stage.share.camera?.observer === first.observer && stage.output.camera === first.source)
        _ = await stage.finish()
    }

    @Test("A camera is sent until it ends, and the end of a camera that was replaced changes nothing")
    func cameras() async throws {
        let stage = try await Stage()
        let specification = try CameraSpecification("test:320x180@5")
        try await stage.share.change(camera: specification)
        let first = try #require(stage.share.camera)
        #expect(first.isStarted && stage.output.camera === first.source)
        try await stage.share.change(camera: specification)
        let second = try #require(stage.share.camera)
        #expect(await !stage.share.removeCamera(of: first.observer))
        #expect(second.observer !== first.observer && stage.output.camera === second.source)
        #expect(await stage.share.removeCamera(of: second.observer))
        #expect(stage.share.camera == nil && stage.output.camera == nil)
        try await stage.share.change(camera: specification)
        try await stage.share.change(camera: .none)
        #expect(stage.share.cameraStatus == nil && stage.output.camera == nil)
        _ = await stage.finish()
    }

    @Test("A room mutes a source only while viewers see that source")
    func muteOfNamedSource() async throws {
        let room = try SharingRoom(owner: try AttendeeID("alice"))
        let (first, second) = (PushVideoSource(isScreencast: true), PushVideoSource(isScreencast: true))
        for source in [first, second] {
            try await room.showContent(
                source, canWait: false, audio: nil, configuration: VideoEncodingParameters(),
                audioConfiguration: AudioEncodingParameters())
        }
        room.setVideoMuted(true, of: first)
        #expect(room.contentShare.videoTrack?.isMuted == false)
        room.setVideoMuted(true, of: second)
        #expect(room.contentShare.videoTrack?.isMuted == true)
        await room.end()
    }
}

extension ControlAnswer {
    fileprivate var reason: String? { if case .failed(_, let reason, _, _) = self { reason } else { nil } }
    fileprivate var remedy: String? { if case .failed(_, _, _, let remedy) = self { remedy } else { nil } }
    fileprivate var source: String? { if case .status(let status) = self { status.source } else { nil } }
    fileprivate var notice: String? { if case .done(let notice) = self { notice } else { nil } }
}
