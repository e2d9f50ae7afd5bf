import RTCShareMedia
import RTCShareWireFormat
import Synchronization

/// The work of the thread of a ``PulseSource``: it records from the requested device, and waits for a missing one.
///
///               the device exists            its first audio
///     looking ───────────────────────▶ opening ─────────────▶ recording
///        ▲                               │ fails                  │ disappears, or the default changes
///        └──────────── away ◀────────────┴────────────────────────┘
///          a change of the devices, or two seconds
struct PulseCapture: Sendable {
    let input: PulseSource.Input
    let server: String?
    let format: AudioFormat
    let broadcaster: AudioBroadcaster
    let patience: Patience
    let measurements = Measurements()

    /// The timeouts for a device and its server.
    struct Patience: Sendable {
        /// The delay before the server, or the device, is retried after a failure.
        var retry = Duration.seconds(2)
        /// The timeout for any data of a device, including silence: a headset takes a second or two to start.
        var silence = Duration.seconds(5)
    }

    /// The counts of the thread.
    final class Measurements: Sendable {
        let overruns = Atomic(0)
    }

    /// The number of seconds for which it runs without sinks, because a headset takes its time to start.
    private static let longestUnheard = 2

    /// The state that is kept from one device to the next.
    private struct Progress {
        var reporter: Reporter
        var clock: RecordingClock
        var holes = 0
    }

    /// Sends audio until the signal is raised.
    func run(until signal: StopSignal) {
        var progress = Progress(
            reporter: Reporter(broadcaster: broadcaster), clock: RecordingClock(sampleRate: format.sampleRate))
        // Later audio, after the end or after another start, must not be muted.
        defer { progress.reporter.end() }
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        while !signal.isRaised {
            do throws(CaptureError) {
                try follow(&progress, until: signal)
                signal.rest { !broadcaster.hasSinks }
            } catch {
                progress.reporter.report(error)
                _ = signal.wait(until: monotonicNow() + patience.retry)
            }
        }
    }

    /// Records, or waits for the device, until there are no sinks. Throws if the server does not answer.
    ///
    /// Even without sinks it checks whether the device exists, so that the user is warned before there is a viewer. All
    /// objects of libpulse exist only within this call, so that an idle source uses no device.
    private func follow(_ progress: inout Progress, until signal: StopSignal) throws(CaptureError) {
        let session = try PulseSession(server: server, signal: signal)
        guard try session.connect(), try session.watchDevices() else { return }
        while true {
            let seen = session.deviceChanges
            guard let devices = try session.devices() else { return }
            do throws(CaptureError) {
                let device = try devices.source(for: input)
                guard broadcaster.hasSinks else { return progress.reporter.report(nil) }
                guard try record(device, of: session, &progress) else { return }
                continue
            } catch {
                if case .soundServerLost = error { throw error }
                progress.reporter.report(error)
            }
            guard try session.rest(atMost: patience.retry, until: { session.deviceChanges != seen }) else { return }
        }
    }

    /// Records from `device` until the input has another device, then returns true. Returns false if there are no sinks
    /// any more, or the signal was raised.
    private func record(
        _ device: String, of session: PulseSession, _ progress: inout Progress
    ) throws(CaptureError) -> Bool {
        do throws(CaptureError) {
            return try relay(device, of: session, &progress)
        } catch {
            guard case .soundDeviceLost = error else { throw error }
            // The server knows whether the device is gone, and whether there is another default.
            guard let devices = try session.devices() else { return false }
            guard try devices.source(for: input) != device else { throw error }
            return true
        }
    }

    /// Sends the recorded audio; returns like ``record``, but also throws if another device must be recorded.
    private func relay(
        _ device: String, of session: PulseSession, _ progress: inout Progress
    ) throws(CaptureError) -> Bool {
        let recording = try PulseRecording(
            session: session, device: device, channels: format.channels, patience: patience.silence)
        guard try recording.begin() else { return false }
        progress.clock.restart()
        var seen = session.deviceChanges
        var unheard = 0
        while unheard < Self.longestUnheard * format.sampleRate {
            guard try recording.waitForSound(unless: { session.deviceChanges != seen }) else { return false }
            if session.deviceChanges != seen {
                seen = session.deviceChanges
                guard let devices = try session.devices() else { return false }
                guard try devices.source(for: input) == device else { return true }
            }
            while let piece = try recording.next() {
                let count = give(piece, &progress)
                unheard = broadcaster.hasSinks ? 0 : unheard + count
            }
        }
        return false
    }

    /// Sends a piece to the sinks, and returns its number of samples of each channel.
    private func give(_ piece: PulseRecording.Piece, _ progress: inout Progress) -> Int {
        defer {
            measurements.overruns.store(progress.holes + progress.clock.discontinuities, ordering: .relaxed)
        }
        switch piece {
        case .hole(let sampleCount):
            progress.holes += 1
            progress.clock.skip(sampleCount: sampleCount)
            return 0
        case .samples(let samples, let time):
            let sampleCount = samples.count / format.channels
            // A sample can't be captured later than now, whatever the server reports.
            let timestamp = progress.clock.timestamp(sampleCount: sampleCount, measured: min(time, monotonicNow()))
            progress.reporter.report(nil)
            broadcaster.send(
                AudioFrame(
                    samples: samples, channels: format.channels, sampleRate: format.sampleRate, timestamp: timestamp))
            return sampleCount
        }
    }

    /// Reports to sinks and observers why there is no audio, each reason once.
    private struct Reporter {
        let broadcaster: AudioBroadcaster
        private var interruption: CaptureInterruption?

        init(broadcaster: AudioBroadcaster) {
            self.broadcaster = broadcaster
        }

        var isAway: Bool { interruption != nil }

        /// Ends the mute: the end itself is reported elsewhere.
        mutating func end() {
            if isAway { broadcaster.isMuted = false }
            interruption = nil
        }

        /// Reports that audio is missing because of an error, or that it has returned.
        mutating func report(_ error: CaptureError?) {
            // A failed reconnection adds no information to the loss.
            if case .soundServerUnavailable? = error, isAway { return }
            let new = error.map { CaptureInterruption.audioUnavailable(reason: $0.explanation.statement) }
            guard new != interruption else { return }
            let old = interruption
            interruption = new
            if isAway != (old != nil) { broadcaster.isMuted = isAway }
            // A new reason does not end the interruption.
            if let new {
                broadcaster.observers.wasInterrupted(by: new)
            } else if let old {
                broadcaster.observers.interruptionDidEnd(old)
            }
        }
    }
}
