import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

/// A server with a microphone (1000 Hz), a headset (500 Hz) and speakers (1500 Hz): the tone shows the recorded device.
@Suite(
    "Audio of a device that is removed",
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: SoundServer.isAvailable, "needs pulseaudio and pulseaudio-utils (pacat, pactl)"))
struct PulseReplacementTests {
    private let server: SoundServer
    private let headset: String
    private let microphone: String
    private let players: [SoundServer.Player]

    private static let (voice, ears, room) = (1000.0, 500.0, 1500.0)

    init() throws {
        server = try SoundServer(sinks: ["speakers"])
        headset = try server.plugIn(sink: "headset")
        microphone = try server.plugIn(microphone: "desk")
        try server.control("set-default-sink", "speakers")
        try server.control("set-default-source", "desk")
        players = [
            try server.play(frequency: Self.voice, into: "desk-voice"),
            try server.play(frequency: Self.room, into: "speakers"),
        ]
    }

    private struct Capture {
        let source: PulseSource
        private let server: SoundServer
        let sink = SoundCollector(now: monotonicNow)
        let observer = CaptureObserver()

        init(
            _ input: PulseSource.Input, of server: SoundServer, hasSink: Bool = true, silence: Duration = .seconds(5)
        ) throws {
            source = try PulseSource(
                input, server: server.address,
                patience: PulseCapture.Patience(retry: .milliseconds(50), silence: silence))
            self.server = server
            if hasSink { source.add(sink) }
            source.add(observer: observer)
            try source.start()
        }

        /// Returns the level of a tone in each hundredth of a second of the recording.
        func levels(of frequency: Double) -> [Double] { Self.levels(of: frequency, in: sink.samples) }

        private static func levels(of frequency: Double, in samples: [Float]) -> [Double] {
            stride(from: 0, to: samples.count - 479, by: 480).map { start in
                let (re, im) = samples[start..<start + 480].enumerated().reduce((0.0, 0.0)) { sum, sample in
                    let angle = 2 * Double.pi * frequency * Double(sample.offset) / 48000
                    return (sum.0 + Double(sample.element) * cos(angle), sum.1 + Double(sample.element) * sin(angle))
                }
                return (re * re + im * im).squareRoot() / 240
            }
        }

        /// Waits until more than a tenth of a second of a tone is among the newest that were recorded since `start`
        /// hundredths.
        func waitForTone(_ frequency: Double, since start: Int = 0) -> Bool {
            sink.wait { sink in
                var frames = sink.frames
                var count = frames.reduce(0) { $0 + $1.sampleCount }
                let end = count
                while let first = frames.first, count - first.sampleCount >= 9600 {
                    count -= first.sampleCount
                    frames.removeFirst()
                }
                let new = SoundCollector.samples(of: frames).suffix(max(0, end - start * 480))
                return Self.levels(of: frequency, in: Array(new)).count { $0 > 0.4 } > 10
            }
        }

        var interruption: String? {
            observer.events.reduce(nil) { reason, event in
                switch event {
                case .interrupted(.audioUnavailable(let reason)): reason
                case .interruptionEnded: nil
                default: reason
                }
            }
        }

        /// Waits until observers are notified that the device is absent, and returns the reason.
        func waitForAbsence() throws -> String {
            #expect(observer.wait { _ in interruption != nil })
            #expect(source.broadcaster.isMuted)
            return try #require(interruption)
        }

        func waitForReturn() {
            #expect(observer.wait { _ in interruption == nil })
            #expect(!source.broadcaster.isMuted)
        }

        /// Finds that nothing is recorded from the server but by `modules` of its own, and that nothing comes.
        func expectSilence(besides modules: Int) throws {
            let deadline = DispatchTime.now() + 10
            while try server.recordings() != modules, DispatchTime.now() < deadline {}
            #expect(try server.recordings() == modules)
            let count = sink.sampleCount
            usleep(100_000)
            #expect(sink.sampleCount == count)
        }
    }

    private func expectNothing(of frequencies: [Double], in capture: Capture) {
        for frequency in frequencies {
            #expect(capture.levels(of: frequency).max() ?? 0 < 0.1, "\(frequency) Hz was recorded")
        }
    }

    @Test(
        "A removed output is silent, also if there is a microphone, and is recorded again when it returns"
    )
    func output() throws {
        let player = try server.play(frequency: Self.ears, into: "headset")
        let capture = try Capture(.system(sink: "headset"), of: server)
        #expect(capture.waitForTone(Self.ears))
        try server.control("unload-module", headset)
        let reason = try capture.waitForAbsence()
        #expect(reason == "the audio server has no output 'headset'. It has: speakers, desk-voice")
        try capture.expectSilence(besides: 1)
        _ = try server.plugIn(sink: "headset")
        let later = try server.play(frequency: Self.ears, into: "headset")
        let start = capture.sink.sampleCount / 480
        #expect(capture.waitForTone(Self.ears, since: start + 1))
        capture.waitForReturn()
        capture.source.stop()
        expectNothing(of: [Self.voice, Self.room], in: capture)
        #expect(capture.sink.ends.count == 1 && capture.sink.ends.allSatisfy { $0 == nil })
        for player in [player, later] { player.stop() }
    }

    @Test(
        "A removed microphone is silent, also if the machine plays audio, and is recorded again when it returns",
        arguments: [
            (PulseSource.Input.microphone(device: "desk"), "the audio server has no microphone 'desk', and no other"),
            (.microphone(device: nil), "the audio server has no microphone"),
        ])
    func microphone(input: PulseSource.Input, reason: String) throws {
        let capture = try Capture(input, of: server)
        #expect(capture.waitForTone(Self.voice))
        try server.control("unload-module", microphone)
        #expect(try capture.waitForAbsence() == reason)
        try capture.expectSilence(besides: 0)
        let start = capture.sink.sampleCount / 480
        _ = try server.plugIn(microphone: "desk")
        #expect(capture.waitForTone(Self.voice, since: start + 1))
        capture.waitForReturn()
        capture.source.stop()
        expectNothing(of: [Self.ears, Self.room], in: capture)
        for (frame, next) in zip(capture.sink.frames, capture.sink.frames.dropFirst()) {
            #expect(next.timestamp > frame.timestamp)
        }
    }

    @Test("A default source that changes to a monitor is not recorded until it is a microphone again")
    func defaultBecomesMonitor() throws {
        let capture = try Capture(.microphone(device: nil), of: server)
        #expect(capture.waitForTone(Self.voice))
        try server.control("set-default-source", "speakers.monitor")
        let monitor = try capture.waitForAbsence()
        #expect(monitor.hasPrefix("the audio server's default is not a microphone. It has: "))
        try capture.expectSilence(besides: 1)
        try server.control("unload-module", microphone)
        let reason = "the audio server has no microphone"
        #expect(capture.observer.wait { _ in capture.interruption == reason })
        #expect(!capture.observer.events.contains { if case .interruptionEnded = $0 { true } else { false } })
        let start = capture.sink.sampleCount / 480
        _ = try server.plugIn(microphone: "desk")
        try server.control("set-default-source", "desk")
        #expect(capture.waitForTone(Self.voice, since: start + 1))
        capture.source.stop()
        expectNothing(of: [Self.ears, Self.room], in: capture)
    }

    @Test("A missing microphone is reported before there is a sink, and one that is connected later is recorded")
    func noMicrophone() throws {
        try server.control("unload-module", microphone)
        let capture = try Capture(.microphone(device: nil), of: server, hasSink: false)
        _ = try capture.waitForAbsence()
        capture.source.add(capture.sink)
        try capture.expectSilence(besides: 0)
        _ = try server.plugIn(microphone: "desk")
        #expect(capture.waitForTone(Self.voice))
        capture.waitForReturn()
        capture.source.stop()
        expectNothing(of: [Self.ears, Self.room], in: capture)
    }

    @Test(
        "A source of a server without devices waits for one",
        arguments: [PulseSource.Input.microphone(device: nil), .system(sink: nil)])
    func noDevice(input: PulseSource.Input) throws {
        let bare = try SoundServer(sinks: [])
        let capture = try Capture(input, of: bare)
        _ = try capture.waitForAbsence()
        _ = try bare.plugIn(microphone: "desk")
        let player = try bare.play(frequency: Self.voice, into: "desk-voice")
        #expect(capture.waitForTone(Self.voice))
        capture.source.stop()
        player.stop()
    }

    /// Returns the server's index of the recording from the speakers' monitor.
    private func recordingOfSpeakers() throws -> String {
        let recordings = try server.control("list", "short", "source-outputs").split(separator: "\n")
        let monitor = try #require(
            server.control("list", "short", "sources").split(separator: "\n").first { $0.contains("speakers.monitor") }?
                .split(separator: "\t").first)
        return try #require(
            recordings.map { $0.split(separator: "\t") }.first { $0[1] == monitor }?.first.map(String.init))
    }

    @Test("A recording that the server ends is started again after a pause")
    func endedRecording() throws {
        let capture = try Capture(.system(sink: nil), of: server)
        #expect(capture.waitForTone(Self.room))
        try server.endRecording(recordingOfSpeakers())
        #expect(
            try capture.waitForAbsence() == "the audio device 'speakers.monitor' was lost: the audio server ended it")
        let start = capture.sink.sampleCount / 480
        #expect(capture.waitForTone(Self.room, since: start + 1))
        capture.waitForReturn()
        capture.source.stop()
        #expect(capture.observer.events.count == 4)
    }

    @Test("A device that is suspended is reported, and recorded again when it is not")
    func suspendedDevice() throws {
        let capture = try Capture(.system(sink: "desk-voice"), of: server, silence: .seconds(1))
        #expect(capture.waitForTone(Self.voice))
        try server.control("suspend-sink", "desk-voice", "1")
        #expect(
            try capture.waitForAbsence() == "the audio device 'desk-voice.monitor' was lost: it gives no audio")
        let start = capture.sink.sampleCount / 480
        try server.control("suspend-sink", "desk-voice", "0")
        #expect(capture.waitForTone(Self.voice, since: start + 1))
        capture.waitForReturn()
        capture.source.stop()
    }

    @Test("A recording can't be moved to another device")
    func move() throws {
        let capture = try Capture(.system(sink: nil), of: server)
        #expect(capture.waitForTone(Self.room))
        let recording = try recordingOfSpeakers()
        #expect(throws: SoundServer.Failure.self) { try server.control("move-source-output", recording, "desk") }
        #expect(capture.waitForTone(Self.room, since: capture.sink.sampleCount / 480))
        capture.source.stop()
        expectNothing(of: [Self.voice, Self.ears], in: capture)
    }

    @Test("A server that is restarted is recorded again by itself")
    func restartedServer() throws {
        let capture = try Capture(.system(sink: "speakers"), of: server)
        #expect(capture.waitForTone(Self.room))
        server.kill()
        #expect(try capture.waitForAbsence().hasPrefix("the audio server was lost: "))
        let start = capture.sink.sampleCount / 480
        try server.start()
        let player = try server.play(frequency: Self.room, into: "speakers")
        #expect(capture.waitForTone(Self.room, since: start + 1))
        capture.waitForReturn()
        capture.source.stop()
        player.stop()
        #expect(capture.observer.events.count { $0 == .started } == 1)
    }

    @Test("Stop returns while the server is away, and the source can be started again")
    func stopsWhileAway() throws {
        let capture = try Capture(.system(sink: nil), of: server)
        #expect(capture.waitForTone(Self.room))
        server.kill()
        _ = try capture.waitForAbsence()
        capture.source.stop()
        #expect(!capture.source.broadcaster.isMuted)
        #expect(capture.observer.events.last == .stopped && capture.interruption != nil, "it is not back")
        try capture.source.start()
        #expect(
            capture.observer.wait { events in
                events.count { if case .interrupted = $0 { true } else { false } } == 2
            })
        capture.source.stop()
        #expect(capture.observer.events.suffix(1) == [.stopped])
    }
}
