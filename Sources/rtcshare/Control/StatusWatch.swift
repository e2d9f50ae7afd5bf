internal import RTCShareLocks

/// `rtcshare status --watch`: shows the state of a running share until the share ends.
///
/// A terminal shows the current state. A file or a pipe gets a block of lines for each change or, as JSON, one line.
struct StatusWatch {
    private let client: ControlClient
    private let isJSON: Bool

    init(_ client: ControlClient, asJSON isJSON: Bool) {
        self.client = client
        self.isJSON = isJSON
    }

    func run() async throws {
        if isJSON || !StandardStreams.isOutputTerminal { try await write() } else { try await draw() }
        Terminal.shared.say("The share has ended.")
    }

    private func write() async throws {
        var previous: ControlledShare?
        for try await status in client.states() {
            if previous.map({ $0.differs(from: status, inMeasurements: isJSON) }) ?? true {
                if isJSON {
                    try StandardStreams.writeJSON(status, isPretty: false)
                } else {
                    try StandardStreams.writeLines((previous == nil ? [] : [""]) + status.lines)
                }
            }
            previous = status
        }
    }

    /// Draws each state, and the newest one again each second: the share sends it only when more than its times has changed.
    private func draw() async throws {
        let screen = Locked((status: ControlledShare?.none, time: ContinuousClock.now, drawn: 0))
        let draw: @Sendable () throws -> Void = {
            try screen.withLock { screen in
                let seconds = screen.time.duration(to: .now) / .seconds(1)
                guard let lines = screen.status?.advanced(by: seconds).lines else { return }
                screen.drawn = try StandardStreams.redraw(lines, over: screen.drawn)
            }
        }
        let ticking = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil { try? draw() }
        }
        defer { ticking.cancel() }
        for try await status in client.states() {
            screen.withLock { ($0.status, $0.time) = (status, .now) }
            try draw()
        }
    }
}

extension ControlledShare {
    /// Returns the state after a number of seconds without changes.
    fileprivate func advanced(by seconds: Double) -> ControlledShare {
        var share = self
        share.uptime += seconds
        share.recording = recording.map { Recording(file: $0.file, seconds: $0.seconds + seconds) }
        share.codec?.retryIn = codec?.retryIn.map { max(0, $0 - seconds) }
        return share
    }

    /// Returns whether anything except the time differs; sizes, rates, losses and round trips count only if
    /// `inMeasurements` is true.
    func differs(from other: ControlledShare, inMeasurements: Bool) -> Bool {
        steady(keepingMeasurements: inMeasurements) != other.steady(keepingMeasurements: inMeasurements)
    }

    private func steady(keepingMeasurements: Bool) -> ControlledShare {
        var share = self
        share.uptime = 0
        share.codec?.retryIn = nil
        share.recording = recording.map { Recording(file: $0.file, seconds: 0) }
        guard !keepingMeasurements else { return share }
        share.messages = []
        (share.width, share.height, share.framesPerSecond, share.bitrate) = (nil, nil, 0, 0)
        share.qualityLimitationReason = nil
        for index in viewers.indices {
            share.viewers[index].bitrate = nil
            share.viewers[index].fractionLost = nil
            share.viewers[index].roundTripTime = nil
            share.viewers[index].troubleFigure = nil
        }
        for index in servers.indices {
            share.servers[index].bitrate = nil
            share.servers[index].fractionLost = nil
            share.servers[index].roundTripTime = nil
            share.servers[index].layers = servers[index].layers?.map { .init(rid: $0.rid, pauseReason: $0.pauseReason) }
        }
        return share
    }
}
