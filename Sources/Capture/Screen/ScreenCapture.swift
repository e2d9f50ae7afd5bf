import RTCShareMedia

/// Captures frames of a subject when there is a change and a demand.
enum ScreenCapture {
    /// The polling interval for a subject without pixels, in case no event reports its return.
    private static let searchInterval = Duration.milliseconds(500)
    /// The interval at which a subject without sinks is checked: until then, the display queues its events.
    private static let restInterval = Duration.seconds(2)

    /// Sends frames until the signal is raised. Throws if the subject ends. Reports interruptions, and sizes other than
    /// `format`'s. While there is no video, the broadcaster is muted.
    static func run<Subject: ScreenSubject>(
        _ subject: Subject, on connection: XConnection, as format: CaptureFormat, to broadcaster: VideoBroadcaster,
        until signal: StopSignal
    ) throws(CaptureError) {
        guard var grabber = try ScreenGrabber(connection: connection, subject: subject, signal: signal) else { return }
        var reporter = CaptureReporter(broadcaster: broadcaster, size: format.size)
        // Later frames, after the end or after another start, must not be muted.
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
                // A change that was already noticed is not reported again.
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
    /// Runs a source's capture on its thread, and reports its start, its end and the reason for the end.
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
