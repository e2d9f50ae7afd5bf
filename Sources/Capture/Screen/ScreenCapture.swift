import RTCShareMedia

/// Takes pictures of a subject when there is something new and somebody has a use for it.
enum ScreenCapture {
    /// How often is looked for a subject that gives no picture, should no event tell of it.
    private static let searchInterval = Duration.milliseconds(500)
    /// How often the subject is looked after that nobody sees: what the display tells of it meanwhile waits with the display.
    private static let restInterval = Duration.seconds(2)

    /// Gives frames until the signal is raised; throws where the subject ends. Tells interruptions and sizes other than
    /// `format`'s. While there is no picture, the broadcaster is muted.
    static func run<Subject: ScreenSubject>(
        _ subject: Subject, on connection: XConnection, as format: CaptureFormat, to broadcaster: VideoBroadcaster,
        until signal: StopSignal
    ) throws(CaptureError) {
        guard var grabber = try ScreenGrabber(connection: connection, subject: subject, signal: signal) else { return }
        var reporter = CaptureReporter(broadcaster: broadcaster, size: format.size)
        // What comes after the end, or after another start, is not held back by this.
        defer { reporter.setMuted(false) }
        var cadence = ScreenCadence(framesPerSecond: format.framesPerSecond, now: monotonicNow())
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        while !signal.isRaised {
            guard try grabber.update(signal: signal) else { return }
            reporter.setMuted(grabber.isHidden)
            reporter.report(grabber.interruption, size: grabber.size, now: monotonicNow())
            guard !grabber.isHidden else {
                let deadline = monotonicNow() + searchInterval
                guard grabber.wait(until: deadline, signal: signal) else { return }
                if monotonicNow() >= deadline { grabber.search() }
                continue
            }
            guard broadcaster.hasSinks else {
                signal.rest(for: restInterval) { !broadcaster.hasSinks }
                cadence.skip(now: monotonicNow())
                continue
            }
            let demand = broadcaster.demand
            let hasChange = grabber.hasChange || demand == .picture
            let deadline = max(cadence.deadline(hasChange: hasChange), grabber.settledTime)
            if monotonicNow() < deadline {
                // What has been noticed already is not told again.
                guard grabber.wait(until: deadline, signal: signal) else { return }
                continue
            }
            guard demand > .nothing else {
                cadence.skip(now: monotonicNow())
                continue
            }
            var isFrame = false
            switch try grabber.look(evenIfOld: demand == .picture, signal: signal) {
            case .stopped: return
            case .nothingNew: break
            case .frame(let frame):
                isFrame = true
                broadcaster.send(frame)
            }
            cadence.didLook(isFrame: isFrame, pointerMoved: grabber.pointerMoved, now: monotonicNow())
        }
    }
}

/// Tells sinks and observers how a subject stands, each change once.
private struct CaptureReporter {
    private let broadcaster: VideoBroadcaster
    // As it was told last. A mute that somebody else has set is left alone.
    private var isMuted = false
    private var size: PixelSize
    private var interruption: CaptureInterruption?
    /// Since when the subject has been beyond the screen's edges.
    private var leftAt: Duration?
    /// For so long that is no news: window managers put a window there while they bring it back.
    private static let patience = Duration.milliseconds(300)

    init(broadcaster: VideoBroadcaster, size: PixelSize) {
        self.broadcaster = broadcaster
        self.size = size
    }

    mutating func setMuted(_ isMuted: Bool) {
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        broadcaster.isMuted = isMuted
    }

    /// Called again and again, also when nothing has happened.
    mutating func report(_ found: CaptureInterruption?, size: PixelSize?, now: Duration) {
        leftAt = found == .movedOffScreen ? leftAt ?? now : nil
        let isShort = leftAt.map { now < $0 + Self.patience } ?? false
        let interruption = isShort ? nil : found
        if interruption != self.interruption {
            if let over = self.interruption { broadcaster.observers.interruptionDidEnd(over) }
            self.interruption = interruption
            if let interruption { broadcaster.observers.wasInterrupted(by: interruption) }
        }
        if let size, size != self.size {
            self.size = size
            broadcaster.observers.sizeDidChange(to: size)
        }
    }
}

extension VideoBroadcaster {
    /// Runs a source's capture on its thread, and tells its begin, its end and the reason of that.
    func run(until signal: StopSignal, _ capture: () throws(CaptureError) -> Void) {
        start()
        var failure: CaptureError?
        do throws(CaptureError) {
            try capture()
        } catch {
            failure = error
        }
        signal.finish()
        end(error: failure)
    }
}
