import RTCShareContentShare
import RTCShareMedia
import TestSupport
import Testing

@testable import rtcshare

@Suite("Pause, slate, replace and resume", .timeLimit(.minutes(1)))
struct SharedSourcesTests {
    enum Event: CaseIterable, Sendable {
        case pause, pauseWithSlate, resume, replace, sourceEnds, slateTimeEnds, mute, unmute
    }

    /// What a share can be in. Everything that viewers see and that is stopped follows from it.
    enum Situation: CaseIterable, Sendable {
        case live
        /// Viewers keep the last frame.
        case held
        /// They keep the last frame of a source that was replaced since.
        case keeping
        /// They see a slate, which gets sharp.
        case slate
        /// They see a slate, and that the share is paused.
        case sharpSlate
    }

    /// The next situation for each event. Events that are left out change nothing.
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

    /// A share with fakes around it, and what the table says about it.
    private final class Stage {
        let output: FakeOutput
        let time: VirtualTime
        let sources: SharedSources
        private let runner = SourceRunner()
        private var opened: [FakeSource]
        private let events = AsyncStream.makeStream(of: Share.Occurrence.self)

        private(set) var situation = Situation.live
        private var content: FakeSource
        private var kept: FakeSource?
        private var isMuted = false
        private var hasEnded = false
        private var ends = 0
        private var slates = 0

        private static let options = try? (RTCShareCommand.parsed(["serve"], environment: [:]) as? ServeCommand)?
            .sharing

        init(capturing: Bool = true, hasMicrophone: Bool = true) async throws {
            let (content, output, time) = (FakeSource("1"), FakeOutput(), VirtualTime())
            (self.content, self.output, self.time) = (content, output, time)
            opened = [content]
            var fakes = try OpenedSources(
                SourceSelection(
                    source: SourceSpecification("test:320x180@5"), audio: [.none],
                    microphone: AudioSpecification.none),
                maximumFrameRate: 30)
            fakes.content = OpenedSources.Content(source: content, specification: "1", canWait: false)
            fakes.audio = [OpenedSources.Sound(source: FakeSound(), specification: "sound")]
            if hasMicrophone {
                fakes.microphone = OpenedSources.Sound(source: FakeSound(), specification: "microphone")
            }
            sources = SharedSources(
                fakes, in: output, runner: runner, options: try #require(Self.options), events: events.continuation,
                sleep: { try await time.sleep(for: $0) })
            try await sources.begin()
            if capturing { try await sources.start() }
        }

        /// Does what the event says, and returns the notice.
        func perform(_ event: Event) async throws -> String? {
            switch event {
            case .pause: return try await sources.pause(showingSlate: false)
            case .pauseWithSlate: return try await sources.pause(showingSlate: true)
            case .resume: return try await sources.resume()
            case .replace: try await replace(with: FakeSource("\(opened.count + 1)"))
            case .sourceEnds:
                content.end()
                (hasEnded, ends) = (true, ends + 1)
            case .slateTimeEnds:
                time.advance(by: .seconds(2))
                await sources.slateMuting?.value
            case .mute, .unmute:
                isMuted = event == .mute
                _ = try await sources.mute(.all, isMuted)
            }
            return nil
        }

        func replace(with source: FakeSource, canWait: Bool = false, endedBefore: Bool = false) async throws {
            opened.append(source)
            let content = OpenedSources.Content(
                source: source, specification: source.description, canWait: canWait)
            let candidate = SharedSources.Opened(content, isSizeChosen: false, events: events.continuation)
            if endedBefore {
                source.end()
                ends += 1
            }
            try await sources.change(to: candidate)
        }

        /// Does what the event says, and follows it in the table.
        func follow(_ event: Event, _ story: [Event]) async throws {
            if event == .resume, hasEnded, situation != .live {
                let failure = await #expect(throws: CommandFailure.self, "\(story)") { try await self.perform(event) }
                #expect(failure?.message == "the source has ended" && failure?.remedy == "rtcshare switch SPEC")
                return try await check("\(story)")
            }
            let notice = try await perform(event)
            #expect(notice == SharedSourcesTests.notices[situation]?[event], "\(story)")
            let next = SharedSourcesTests.table[situation]?[event] ?? situation
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

        /// Compares what viewers see, and what runs, with the situation.
        func check(_ story: String) async throws {
            await runner.finish()
            let isSlate = situation == .slate || situation == .sharpSlate
            let isVideoMuted = [.held, .keeping, .sharpSlate].contains(situation)
            let view = (isSlate ? "slate" : "\(kept ?? content)") + (isVideoMuted ? " (muted)" : "")
            #expect(await output.view == view, "\(story)")
            #expect(await output.isAudioMuted == (isMuted || situation != .live), "\(story)")
            #expect(await output.isMicrophoneMuted == isMuted, "\(story)")
            let running = Set([content, kept].compactMap { $0?.description })
            #expect(Set(opened.filter(\.isRunning).map(\.description)) == running, "\(story)")
            #expect(await output.runningSlates == (isSlate ? 1 : 0), "\(story)")
            let status = await sources.status
            #expect(status.isPaused == (situation != .live) && status.isSlateShown == isSlate, "\(story)")
            #expect(await sources.content === content, "\(story)")
            #expect((await sources.captureEnd != nil) == (hasEnded && situation == .live), "\(story)")
            #expect((status.interruption != nil) == (hasEnded && situation != .live), "\(story)")
        }

        /// Stops everything, and returns how many ends of sources were reported but not expected, or were missed.
        func finish() async -> Int {
            await sources.stop()
            await runner.finish()
            #expect(opened.allSatisfy { !$0.isRunning })
            #expect(await output.runningSlates == 0)
            events.continuation.finish()
            var reported = 0
            for await event in events.stream { if case .captureEnded = event { reported += 1 } }
            return reported - ends
        }
    }

    @Test(
        "Viewers see what the table says, and no other source runs, after each order of two and three events",
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
        "A source or slate that the room rejects leaves everything as it was, in each situation",
        arguments: [
            (Situation.live, Event.pauseWithSlate), (.held, .pauseWithSlate), (.keeping, .pauseWithSlate),
            (.keeping, .resume), (.slate, .resume), (.sharpSlate, .resume), (.live, .replace),
        ])
    func rejections(situation: Situation, event: Event) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        await stage.output.refuseNext()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.perform(event) }
        try await stage.check("\(situation), rejected \(event)")
        if situation == .slate { try await stage.follow(.slateTimeEnds, [event, .slateTimeEnds]) }
        #expect(await stage.finish() == 0)
    }

    @Test("A source that can't start leaves everything as it was", arguments: Situation.allCases)
    func brokenSource(situation: Situation) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        await #expect(throws: FakeSource.Failure.self) {
            try await stage.replace(with: FakeSource("broken", canStart: false))
        }
        try await stage.check("\(situation)")
        #expect(await stage.finish() == 0)
    }

    @Test("A source that ended before it is shown leaves everything as it was", arguments: Situation.allCases)
    func endedSource(situation: Situation) async throws {
        let stage = try await Stage()
        let way = try #require(Self.ways.first { $0.0 == situation }).1
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        let failure = await #expect(throws: CommandFailure.self) {
            try await stage.replace(with: FakeSource("ended"), endedBefore: true)
        }
        #expect(failure?.message == "the source has ended")
        try await stage.check("\(situation)")
        #expect(await stage.finish() == 0)
    }

    @Test("A source that is opened while the share captures is started before it is shown", arguments: [true, false])
    func startedSource(isCapturing: Bool) async throws {
        let stage = try await Stage(capturing: isCapturing)
        let opened = try await stage.sources.open(SourceSpecification("test:320x180@5"))
        #expect(opened.isStarted == isCapturing)
        try await stage.sources.change(to: opened)
        #expect(await stage.sources.content === opened.content.source)
        try await stage.sources.start()
        _ = await stage.finish()
    }

    @Test("A source that is shown while capture begins is started")
    func captureBeginsWhileShown() async throws {
        let stage = try await Stage(capturing: false)
        let sources = stage.sources
        await stage.output.whileShowingNext { try? await sources.start() }
        let next = FakeSource("2")
        try await stage.replace(with: next)
        #expect(next.isRunning)
        #expect(await stage.finish() == 0)
    }

    @Test("A slate is muted after its own time, not after the time of an earlier slate")
    func earlierSlate() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        stage.time.advance(by: .seconds(1))
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate, .resume, .pauseWithSlate])
        stage.time.advance(by: .seconds(1))
        try await stage.check("one second")
        stage.time.advance(by: .seconds(1))
        await stage.sources.slateMuting?.value
        #expect(await stage.output.view == "slate (muted)")
        #expect(await stage.finish() == 0)
    }

    @Test("The time of a slate that ends while the share resumes does not pause the share")
    func slateTimeDuringResume() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        let (time, sources) = (stage.time, stage.sources)
        await stage.output.whileShowingNext {
            time.advance(by: .seconds(2))
            await sources.slateMuting?.value
        }
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        #expect(await stage.finish() == 0)
    }

    @Test(
        "A muted sound stays muted while a source or a slate begins",
        arguments: [(Situation.live, Event.pauseWithSlate), (.keeping, .resume), (.slate, .resume), (.live, .replace)])
    func soundWhileSourceBegins(situation: Situation, event: Event) async throws {
        let stage = try await Stage()
        let way = [.mute] + (try #require(Self.ways.first { $0.0 == situation }).1)
        for (index, step) in way.enumerated() { try await stage.follow(step, Array(way[...index])) }
        try await stage.follow(event, way + [event])
        #expect(await stage.output.wasSoundMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("The sound of a paused share is muted from the first moment of a slate")
    func soundOfSlate() async throws {
        let stage = try await Stage()
        try await stage.follow(.pauseWithSlate, [.pauseWithSlate])
        #expect(await stage.output.wasSoundMuted)
        try await stage.follow(.resume, [.pauseWithSlate, .resume])
        #expect(await !stage.output.wasSoundMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("A microphone that the share does not have is not muted")
    func muteWithoutMicrophone() async throws {
        let stage = try await Stage(hasMicrophone: false)
        #expect(try await stage.sources.mute(.all, true) == "The audio is muted.")
        let status = await stage.sources.status
        #expect(status.isAudioMuted && !status.isMicrophoneMuted)
        #expect(await stage.finish() == 0)
    }

    @Test("The end of a source counts from the moment at which viewers are shown it")
    func endDuringResume() async throws {
        let stage = try await Stage()
        for (index, event) in [Event.pause, .replace].enumerated() {
            try await stage.follow(event, Array([.pause, .replace][...index]))
        }
        let sources = stage.sources
        await stage.output.whileShowingNext { #expect(await !sources.isPaused) }
        try await stage.follow(.resume, [.pause, .replace, .resume])
        #expect(await stage.finish() == 0)
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
        #expect(await stage.output.view == "2")
        #expect(!next.isRunning)
        try await stage.sources.start()
        #expect(next.isRunning)
        #expect(await stage.finish() == 0)
    }

    @Test("The encoder delays only the content that can wait, not a slate over it")
    func contentThatCanWait() async throws {
        let stage = try await Stage()
        #expect(await !stage.output.canShownWait)
        try await stage.replace(with: FakeSource("2"), canWait: true)
        #expect(await stage.output.canShownWait)
        await stage.output.refuseNext()
        await #expect(throws: FakeOutput.Refusal.self) { try await stage.replace(with: FakeSource("3")) }
        _ = try await stage.perform(.pauseWithSlate)
        #expect(await !stage.output.canShownWait)
        _ = try await stage.perform(.resume)
        #expect(await stage.output.canShownWait)
        #expect(await stage.finish() == 0)
    }

    @Test("A room mutes a source only while viewers see that source")
    func muteOfNamedSource() async throws {
        let room = try SharingRoom(owner: try AttendeeID("alice"))
        let (first, second) = (CustomVideoSource(isScreencast: true), CustomVideoSource(isScreencast: true))
        for source in [first, second] {
            try await room.showContent(
                source, canWait: false, audio: nil, configuration: VideoEncodingParameters(),
                audioConfiguration: LocalAudioConfiguration())
        }
        await room.setVideoMuted(true, of: first)
        #expect(await room.contentShare.videoTrack?.isMuted == false)
        await room.setVideoMuted(true, of: second)
        #expect(await room.contentShare.videoTrack?.isMuted == true)
        await room.end()
    }
}
