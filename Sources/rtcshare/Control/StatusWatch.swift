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
        let isScreen = !isJSON && StandardStreams.isOutputTerminal
        var previous: ControlledShare?
        var drawn = 0
        for try await status in client.states() {
            if isScreen {
                drawn = try StandardStreams.redraw(status.lines, over: drawn)
            } else if previous.map({ $0.differs(from: status, inMeasurements: isJSON) }) ?? true {
                if isJSON {
                    try StandardStreams.writeJSON(status, isPretty: false)
                } else {
                    try StandardStreams.writeLines((previous == nil ? [] : [""]) + status.lines)
                }
            }
            previous = status
        }
        Terminal.shared.say("The share has ended.")
    }
}

extension ControlledShare {
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
        (share.width, share.height, share.framesPerSecond, share.bitrate) = (nil, nil, 0, 0)
        for index in viewers.indices {
            share.viewers[index].bitrate = nil
            share.viewers[index].fractionLost = nil
            share.viewers[index].roundTripTime = nil
        }
        for index in servers.indices {
            share.servers[index].bitrate = nil
            share.servers[index].fractionLost = nil
            share.servers[index].roundTripTime = nil
        }
        return share
    }
}
