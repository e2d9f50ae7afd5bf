import RTCShareContentShare
import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import rtcshare

@SharingActor @Suite("The state of a share's content") struct ContentStateTests {
    /// A state in which viewers see source 1, or a slate over it. Source 1 is the content except in ``keeping``, where
    /// source 2 is.
    enum Start: CaseIterable, Sendable {
        case live, held, keeping, slate
    }

    enum Event: CaseIterable, Sendable {
        case pause, pauseWithSlate, resume, replace, stop
    }

    /// The effects of each event in their order, or the notice that nothing changes.
    static let table: [Start: [Event: [String]]] = [
        .live: [
            .pause: ["mute 1"], .pauseWithSlate: ["show slate", "mute slate when sharp"],
            .resume: ["The share is not paused."], .replace: ["prepare new", "show new", "stop 1"],
            .stop: ["stop 1"],
        ],
        .held: [
            .pause: ["The share is already paused."], .pauseWithSlate: ["show slate", "mute slate when sharp"],
            .resume: ["unmute 1"], .replace: ["prepare new"], .stop: ["stop 1"],
        ],
        .keeping: [
            .pause: ["The share is already paused."],
            .pauseWithSlate: ["show slate", "mute slate when sharp", "stop 1"], .resume: ["show 2", "stop 1"],
            .replace: ["prepare new", "stop 2"], .stop: ["stop 1", "stop 2"],
        ],
        .slate: [
            .pause: ["The share is already paused: viewers see a slate."],
            .pauseWithSlate: ["The share is already paused: viewers see a slate."],
            .resume: ["show 1", "stop first slate"], .replace: ["prepare new", "stop 1"],
            .stop: ["stop first slate", "stop 1"],
        ],
    ]

    private static let events = AsyncStream.makeStream(of: Share.Occurrence.self).continuation

    private static func opened(_ name: String, isStarted: Bool = true) -> OpenedContent {
        OpenedContent(
            OpenedSources.Content(source: FakeSource(name), specification: name, canWait: false), isSizeChosen: false,
            isStarted: isStarted, events: events)
    }

    private static func state(_ start: Start) -> ContentState {
        var state = ContentState(opened("1"))
        _ = state.start()
        switch start {
        case .live: break
        case .held: _ = state.pause()
        case .keeping:
            _ = state.pause()
            _ = state.replace(with: opened("2"))
        case .slate: _ = state.pause(showing: FakeSource("first slate"))
        }
        return state
    }

    private static func words(for effect: ContentState.Effect) -> String {
        switch effect {
        case .prepare(let new, let starts): "prepare \(new.source)\(starts ? " and start it" : "")"
        case .show(let source, let canWait): "show \(source)\(canWait ? ", which can wait" : "")"
        case .setMuted(let isMuted, let source): "\(isMuted ? "mute" : "unmute") \(source)"
        case .muteWhenSharp(let slate): "mute \(slate) when sharp"
        case .stop(let source): "stop \(source)"
        }
    }

    private static func perform(_ event: Event, in state: inout ContentState) throws -> [String] {
        var effects: [ContentState.Effect]
        switch event {
        case .pause, .pauseWithSlate:
            let showsSlate = event == .pauseWithSlate
            if let notice = try state.noticeOfPause(showingSlate: showsSlate) { return [notice] }
            effects = showsSlate ? state.pause(showing: FakeSource("slate")) : state.pause()
        case .resume:
            if let notice = try state.noticeOfResume() { return [notice] }
            effects = state.resume()
        case .replace: effects = state.replace(with: opened("new"))
        case .stop: effects = state.stop()
        }
        return effects.map(words)
    }

    @Test("An event in each state has the effects that the table gives", arguments: Start.allCases, Event.allCases)
    func effects(start: Start, event: Event) throws {
        var state = Self.state(start)
        #expect(try Self.perform(event, in: &state) == Self.table[start]?[event])
        let isPaused =
            switch event {
            case .pause, .pauseWithSlate: true
            case .resume: false
            case .replace, .stop: start != .live
            }
        #expect(state.isPaused == isPaused)
        #expect(state.isSlateShown == (event == .pauseWithSlate || (start == .slate && event != .resume)))
        #expect("\(state.current.source)" == (event == .replace ? "new" : start == .keeping ? "2" : "1"))
        #expect(state.isCapturing == (event != .stop))
    }

    @Test("Before the first viewer, a share can't be paused, and new content is not started")
    func beforeCapture() throws {
        var state = ContentState(Self.opened("1", isStarted: false))
        let failure = #expect(throws: CommandFailure.self) { try state.noticeOfPause(showingSlate: false) }
        #expect(failure?.message == "no viewer is connected yet")
        #expect(try state.noticeOfResume() == "The share is not paused.")
        let effects = state.replace(with: Self.opened("2", isStarted: false))
        #expect(effects.map(Self.words) == ["prepare 2", "show 2", "stop 1"])
        #expect(state.start() && !state.start())
    }

    @Test(
        "Content that opened before the share captured is started when it replaces other content",
        arguments: Start.allCases)
    func lateStart(start: Start) {
        var state = Self.state(start)
        let first = state.replace(with: Self.opened("new", isStarted: false)).first
        #expect(first.map(Self.words) == "prepare new and start it")
    }

    @Test(
        "The end of the content ends a share that is not paused, and keeps a paused share from resuming",
        arguments: Start.allCases)
    func end(start: Start) async throws {
        var state = Self.state(start)
        #expect(state.end == nil && state.lossDuringPause == nil)
        (state.current.source as? FakeSource)?.end()
        await settle()
        #expect((state.end != nil) == (start == .live))
        if start == .live { return #expect(state.lossDuringPause == nil) }
        #expect(state.lossDuringPause?.statement == "the source has ended")
        let failure = #expect(throws: CommandFailure.self) { try state.noticeOfResume() }
        #expect(failure?.message == "the source has ended" && failure?.remedy == "rtcshare switch SPEC")
        _ = state.replace(with: Self.opened("new"))
        #expect(try state.lossDuringPause == nil && state.noticeOfResume() == nil)
    }
}
