import Testing

@testable import RTCShareContentShare

/// All events in all states, without a clock.
@Suite struct SharePhaseTests {
    private enum Situation: CaseIterable {
        case idle, idleConnected, startingAlone, starting, sharing, stopped, ended
    }

    private enum Input: CaseIterable {
        case start, connected, firstPicture, stop, earlyTimeout, timeout, end
    }

    private static let begin = Duration.seconds(10)
    private static let patience = SharePhase.patience

    private static func phase(_ situation: Situation) throws -> SharePhase {
        var phase = SharePhase()
        switch situation {
        case .idle: break
        case .idleConnected: phase.connected(now: begin)
        case .startingAlone: _ = try phase.start(now: begin)
        case .starting:
            phase.connected(now: begin)
            _ = try phase.start(now: begin)
        case .sharing, .stopped:
            phase.connected(now: begin)
            _ = try phase.start(now: begin)
            _ = phase.firstPictureSent()
            if situation == .stopped { _ = try phase.stop() }
        case .ended: _ = phase.connectionEnded(.closedByPeer)
        }
        return phase
    }

    /// Returns the event for observers, or the error.
    private static func apply(_ input: Input, to phase: inout SharePhase) -> Result<
        SharePhase.Event?, ContentShareError
    > {
        do throws(ContentShareError) {
            switch input {
            case .start: return .success(try phase.start(now: begin + .seconds(1)))
            case .connected:
                phase.connected(now: begin + .seconds(1))
                return .success(nil)
            case .firstPicture: return .success(phase.firstPictureSent())
            case .stop: return .success(try phase.stop())
            case .earlyTimeout: return .success(phase.handleTimeout(now: begin + patience - .nanoseconds(1)))
            case .timeout: return .success(phase.handleTimeout(now: begin + patience))
            case .end: return .success(phase.connectionEnded(.connectionFailed("why")))
            }
        } catch {
            return .failure(error)
        }
    }

    @Test("Each event in each state has the outcome that the table gives")
    func transitions() throws {
        typealias Outcome = Result<SharePhase.Event?, ContentShareError>
        let nothing = Outcome.success(nil)
        let ok = Outcome.success(.didStop(.ok))
        let failed = Outcome.success(.didStop(.connectionFailed("why")))
        let silent = Outcome.success(.sourceIsSilent(Self.patience))
        let not = Outcome.failure(.notSharing)
        let over = Outcome.failure(.ended)
        // The columns are start, connected, first frame, stop, early timeout, timeout, end, and whether a share is
        // active after it.
        let table: [Situation: [(Outcome, isActive: Bool)]] = [
            .idle: [
                (nothing, true), (nothing, false), (nothing, false), (not, false), (nothing, false), (nothing, false),
                (nothing, false),
            ],
            .idleConnected: [
                (nothing, true), (nothing, false), (nothing, false), (not, false), (nothing, false), (nothing, false),
                (nothing, false),
            ],
            .startingAlone: [
                (.success(.didStop(.replaced)), true), (nothing, true), (.success(.didStart), true), (ok, false),
                (nothing, true), (nothing, true), (failed, false),
            ],
            .starting: [
                (.success(.didStop(.replaced)), true), (nothing, true), (.success(.didStart), true), (ok, false),
                (nothing, true), (silent, true), (failed, false),
            ],
            .sharing: [
                (nothing, true), (nothing, true), (nothing, true), (ok, false), (nothing, true), (nothing, true),
                (failed, false),
            ],
            .stopped: [
                (nothing, true), (nothing, false), (nothing, false), (not, false), (nothing, false), (nothing, false),
                (nothing, false),
            ],
            .ended: [
                (over, false), (nothing, false), (nothing, false), (over, false), (nothing, false), (nothing, false),
                (nothing, false),
            ],
        ]
        for situation in Situation.allCases {
            let row = try #require(table[situation])
            for (input, expected) in zip(Input.allCases, row) {
                var phase = try Self.phase(situation)
                #expect(Self.apply(input, to: &phase) == expected.0, "\(input) in \(situation)")
                #expect(phase.isActive == expected.isActive, "\(input) in \(situation)")
            }
        }
    }

    @Test("The timeout of a source starts when there is a viewer")
    func sourceTime() throws {
        var phase = SharePhase()
        _ = try phase.start(now: .seconds(1))
        #expect(phase.deadline == nil)
        #expect(phase.handleTimeout(now: .seconds(1000)) == nil)
        phase.connected(now: .seconds(1000))
        #expect(phase.deadline == .seconds(1000) + Self.patience)
        // A second report of a viewer does not extend the timeout. Another start does.
        phase.connected(now: .seconds(1002))
        #expect(phase.deadline == .seconds(1000) + Self.patience)
        #expect(try phase.start(now: .seconds(1003)) == .didStop(.replaced))
        #expect(phase.handleTimeout(now: .seconds(1000) + Self.patience) == nil)
        #expect(phase.handleTimeout(now: .seconds(1003) + Self.patience) == .sourceIsSilent(Self.patience))
        #expect(phase.deadline == nil)
    }

    @Test("A silent source is reported once, and the share waits for its frame")
    func silence() throws {
        var phase = SharePhase()
        phase.connected(now: .zero)
        _ = try phase.start(now: .zero)
        #expect(phase.handleTimeout(now: Self.patience) == .sourceIsSilent(Self.patience))
        phase.disconnected()
        phase.connected(now: .seconds(100))
        phase.muteDidChange(true, now: .seconds(101))
        phase.muteDidChange(false, now: .seconds(102))
        #expect(phase.deadline == nil && phase.isActive)
        #expect(phase.firstPictureSent() == .didStart)
        _ = try phase.start(now: .seconds(200))
        #expect(phase.deadline == .seconds(200) + Self.patience)
    }

    @Test(
        "The timeout of a slow source is two of its frame intervals",
        arguments: [
            (30, Self.patience), (0.5, Self.patience), (0.1, .seconds(20)), (0, Self.patience),
            (1e-300, .seconds(3600)),
        ])
    func slowSource(framesPerSecond: Double, patience: Duration) throws {
        #expect(SharePhase.patience(framesPerSecond: framesPerSecond) == patience)
        var phase = SharePhase()
        phase.connected(now: .zero)
        _ = try phase.start(now: .zero, patience: patience)
        #expect(phase.deadline == patience)
        #expect(phase.handleTimeout(now: patience) == .sourceIsSilent(patience))
    }

    @Test("A source that has delivered a frame is not silent if no route has room for the frame")
    func pictureWithoutPath() throws {
        var phase = SharePhase()
        phase.connected(now: .zero)
        _ = try phase.start(now: .zero)
        for round in 1...3 {
            #expect(phase.handleTimeout(now: Self.patience * round, hasPicture: true) == nil)
            #expect(phase.deadline == Self.patience * (round + 1))
        }
        #expect(phase.firstPictureSent() == .didStart)
    }

    @Test("A muted source is not silent, and its timeout starts when it is unmuted")
    func heldPictures() throws {
        var phase = SharePhase()
        phase.connected(now: .zero)
        _ = try phase.start(now: .seconds(1))
        phase.muteDidChange(true, now: .seconds(2))
        #expect(phase.deadline == nil)
        #expect(phase.handleTimeout(now: .seconds(1000)) == nil)
        // Neither another report of a viewer nor a viewer that reconnects starts the timeout.
        phase.connected(now: .seconds(1000))
        phase.disconnected()
        phase.connected(now: .seconds(1001))
        #expect(phase.deadline == nil)
        phase.muteDidChange(false, now: .seconds(2000))
        #expect(phase.deadline == .seconds(2000) + Self.patience)
        // A second report does not extend the timeout.
        phase.muteDidChange(false, now: .seconds(2001))
        #expect(phase.deadline == .seconds(2000) + Self.patience)
        #expect(phase.handleTimeout(now: .seconds(2000) + Self.patience) == .sourceIsSilent(Self.patience))
        // The next share has the whole timeout, whatever happened before.
        _ = try phase.start(now: .seconds(3000))
        phase.muteDidChange(true, now: .seconds(3000))
        _ = try phase.start(now: .seconds(3001))
        #expect(phase.deadline == .seconds(3001) + Self.patience)
        // A mute of a source that was sent already ends nothing, and does not start a timeout.
        #expect(phase.firstPictureSent() == .didStart)
        phase.muteDidChange(true, now: .seconds(3002))
        phase.muteDidChange(false, now: .seconds(3003))
        #expect(phase.deadline == nil)
        #expect(phase.isActive)
    }

    @Test("In any order, each start and stop that does not throw causes exactly one event")
    func anyOrder() {
        // These are all orders of up to six inputs. The number of events is that of starts and stops, without the start
        // under way.
        let inputs: [Input] = [.start, .connected, .firstPicture, .stop, .timeout, .end]
        func explore(_ phase: SharePhase, calls: Int, events: Int, depth: Int) {
            guard depth > 0 else { return }
            for input in inputs {
                var next = phase
                var (calls, events) = (calls, events)
                let wasSharing = phase.isActive && !phase.isStarting
                switch Self.apply(input, to: &next) {
                case .failure, .success(.sourceIsSilent): break
                case .success(let event):
                    // A stop during a start has one event for both calls, and so does a stop during a share.
                    if input == .start { calls += 1 }
                    if input == .stop, wasSharing { calls += 1 }
                    if event != nil, !(input == .end && wasSharing) { events += 1 }
                }
                // The event of a start that is under way follows later.
                #expect(calls - events == (next.isStarting ? 1 : 0))
                explore(next, calls: calls, events: events, depth: depth - 1)
            }
        }
        explore(SharePhase(), calls: 0, events: 0, depth: 5)
    }

    @Test("Statuses and errors have a remedy")
    func messages() {
        #expect("\(ContentShareStatus.connectionFailed("no path"))" == "no path")
        for status in [ContentShareStatus.ok, .replaced, .closedByPeer] { #expect(!"\(status)".isEmpty) }
        for error in [
            ContentShareError.notSharing, .ended, .tooManyShares(limit: 2), .nothingToShow(stream: "s"),
            .configuration("x"), .encoder("y"),
        ] {
            #expect(!"\(error)".isEmpty)
        }
    }
}

extension SharePhase {
    /// Whether a first frame would cause an event.
    fileprivate var isStarting: Bool {
        var copy = self
        return copy.firstPictureSent() != nil
    }
}
