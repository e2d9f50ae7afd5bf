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
