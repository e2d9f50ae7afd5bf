import RTCShareMedia
import RTCShareWireFormat
import Synchronization

/// What the thread of a ``PulseSource`` does: it records from the device that was asked for, and waits for one that is away.
///
///               the device is there         its first sound
///     looking ───────────────────────▶ opening ─────────────▶ recording
///        ▲                               │ fails                  │ goes, or another is the default
///        └──────────── away ◀────────────┴────────────────────────┘
///          a change of the devices, or two seconds
struct PulseCapture: Sendable {
    let input: PulseSource.Input
    let server: String?
    let format: AudioFormat
    let broadcaster: AudioBroadcaster
    let patience: Patience
    let measurements = Measurements()

    /// How long it waits for a device and its server.
    struct Patience: Sendable {
        /// Until the server, or the device, is tried again after a failure.
        var retry = Duration.seconds(2)
        /// For the sound of a device, if only silence: a headset takes a second or two to begin.
        var silence = Duration.seconds(5)
    }

    /// What the thread tells of itself.
    final class Measurements: Sendable {
        let overruns = Atomic(0)
    }

    /// For how many seconds it goes on without sinks: a headset takes its time to begin.
    private static let longestUnheard = 2

    /// What lasts from one device to the next.
    private struct Progress {
        var reporter: Reporter
        var clock: RecordingClock
        var holes = 0
    }

    /// Gives sound until the signal is raised.
    func run(until signal: StopSignal) {
        var progress = Progress(
            reporter: Reporter(broadcaster: broadcaster), clock: RecordingClock(sampleRate: format.sampleRate))
        // Sound after the end, or after another start, is not held back by this.
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

    /// Records, or waits for the device, until nobody wants its sound; throws where the server does not answer.
    ///
    /// Also without sinks it looks whether the device is there, so that a person is told before there is a viewer.
    /// Everything of libpulse's lives and ends in here, so that a source that rests holds no device.
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

    /// Records from `device` until the input is another one's, then returns true; false where nobody wants its sound any
    /// more, or the signal was raised.
    private func record(
        _ device: String, of session: PulseSession, _ progress: inout Progress
    ) throws(CaptureError) -> Bool {
        do throws(CaptureError) {
            return try relay(device, of: session, &progress)
        } catch {
            guard case .soundDeviceLost = error else { throw error }
            // The server knows whether the device is gone, and whether another is the default one.
            guard let devices = try session.devices() else { return false }
            guard try devices.source(for: input) != device else { throw error }
            return true
        }
    }

    /// Gives what is recorded; the same, but throws also where another device is to be recorded.
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

    /// Gives a piece to the sinks; returns how many samples of each channel it had.
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
            // What was given was taken, whatever the server says.
            let timestamp = progress.clock.timestamp(sampleCount: sampleCount, measured: min(time, monotonicNow()))
            progress.reporter.report(nil)
            broadcaster.send(
                AudioFrame(
                    samples: samples, channels: format.channels, sampleRate: format.sampleRate, timestamp: timestamp))
            return sampleCount
        }
    }

    /// Tells sinks and observers why there is no sound, each reason once.
    private struct Reporter {
        let broadcaster: AudioBroadcaster
        private var interruption: CaptureInterruption?

        init(broadcaster: AudioBroadcaster) {
            self.broadcaster = broadcaster
        }

        var isAway: Bool { interruption != nil }

        /// Holds nothing back any more: the end itself is reported elsewhere.
        mutating func end() {
            if isAway { broadcaster.isMuted = false }
            interruption = nil
        }

        /// Reports that sound is away because of an error, or that it is back.
        mutating func report(_ error: CaptureError?) {
            // That it can't be connected to adds nothing to its having been lost.
            if case .soundServerUnavailable? = error, isAway { return }
            let new = error.map { CaptureInterruption.soundAway(reason: $0.explanation.statement) }
            guard new != interruption else { return }
            let old = interruption
            interruption = new
            if isAway != (old != nil) { broadcaster.isMuted = isAway }
            // Another reason is not an end.
            if let new {
                broadcaster.observers.wasInterrupted(by: new)
            } else if let old {
                broadcaster.observers.interruptionDidEnd(old)
            }
        }
    }
}
