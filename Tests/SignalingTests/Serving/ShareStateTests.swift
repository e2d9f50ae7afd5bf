import Testing

@testable import RTCShareSignaling

@Suite("The states of a share for pages")
struct ShareStateTests {
    /// The facts of the sources, and for each view the states of the share, the content and the camera.
    struct Case: Sendable, CustomTestStringConvertible {
        let content: ShareState.Tile.State
        let own: ShareState.Tile.State
        var isPaused = false
        let waiting: String
        let sees: String
        let seesNot: String

        var testDescription: String { "content \(content), camera \(own)\(isPaused ? ", paused" : "")" }
    }

    static let cases = [
        Case(
            content: .live, own: .live, waiting: "waiting off off", sees: "live live live",
            seesNot: "live off live"),
        Case(
            content: .live, own: .live, isPaused: true, waiting: "waiting off off", sees: "paused paused live",
            seesNot: "paused off live"),
        Case(
            content: .paused, own: .live, waiting: "waiting off off", sees: "paused paused live",
            seesNot: "paused off live"),
        Case(
            content: .paused, own: .paused, isPaused: true, waiting: "waiting off off", sees: "paused paused paused",
            seesNot: "paused off paused"),
        Case(content: .off, own: .off, waiting: "waiting off off", sees: "live off off", seesNot: "live off off"),
        Case(
            content: .off, own: .paused, isPaused: true, waiting: "waiting off off", sees: "paused off paused",
            seesNot: "paused off paused"),
        Case(
            content: .live, own: .off, waiting: "waiting off off", sees: "live live off", seesNot: "live off off"),
    ]

    @Test("A page gets the state of each video as its viewer sees it", arguments: cases)
    func states(_ row: Case) {
        var facts = ShareState.Facts(name: "alice")
        facts.content = ShareState.Tile(stream: "alice#content", state: row.content)
        facts.own = ShareState.Tile(stream: "alice", state: row.own)
        facts.isPaused = row.isPaused
        for (view, expected) in [(ShareState.View.waiting, row.waiting), (.sees, row.sees), (.seesNot, row.seesNot)] {
            let state = ShareState(facts, for: view)
            let words = [state.state.rawValue] + state.tiles.map(\.state.rawValue)
            #expect(words.joined(separator: " ") == expected, "\(view)")
            #expect(state.tiles.map(\.stream) == ["alice#content", "alice"])
        }
    }

    @Test(
        "A page is told of audio that is sent to its viewer",
        arguments: [
            (false, false, [false, false, false]), (true, false, [false, true, false]),
            (false, true, [false, true, true]), (true, true, [false, true, true]),
        ] as [(Bool, Bool, [Bool])])
    func sound(content: Bool, own: Bool, expected: [Bool]) {
        let facts = ShareState.Facts(name: "alice", contentSound: content, ownSound: own)
        #expect([ShareState.View.waiting, .sees, .seesNot].map { ShareState(facts, for: $0).sound } == expected)
    }

    @Test("A share without a camera has no tile for it, and a message has the whole state")
    func message() {
        var facts = ShareState.Facts(name: "alice", viewers: 2, contentSound: true)
        facts.content = ShareState.Tile(stream: "alice#content", state: .live)
        #expect(
            String(decoding: ShareState(facts, for: .sees).message, as: UTF8.self) == """
                event: state
                data: {"name":"alice","sound":true,"state":"live","tiles":[{"state":"live","stream":"alice#content"}],\
                "viewers":2}


                """)
    }
}
