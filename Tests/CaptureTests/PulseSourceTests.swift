import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: SoundServer.isAvailable, "needs pulseaudio and pulseaudio-utils (pacat, pactl)"))
struct PulseSourceTests {
    private func capture(
        _ input: PulseSource.Input, of server: SoundServer
    ) throws -> (PulseSource, SoundCollector, CaptureObserver) {
        let source = try PulseSource(input, server: server.address)
        let sink = SoundCollector(now: monotonicNow)
        let observer = CaptureObserver()
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        return (source, sink, observer)
    }

    /// Returns the newest half second if each of its hundredths has audio.
    private func newest(_ sink: SoundCollector) -> [AudioFrame]? {
        var frames: [AudioFrame] = []
        for frame in sink.frames.reversed() where frames.reduce(0, { $0 + $1.sampleCount }) < 24000 {
            frames.insert(frame, at: 0)
        }
        let samples = SoundCollector.samples(of: frames)
        guard samples.count >= 24000 else { return nil }
        let isLoud = stride(from: 0, to: samples.count - 480, by: 480).allSatisfy { start in
            samples[start..<start + 480].contains { abs($0) > 0.4 }
        }
        return isLoud ? frames : nil
    }

    /// Waits for half a second of a tone, and returns its frequency.
    private func frequency(_ sink: SoundCollector) throws -> Double? {
        #expect(sink.wait { newest($0) != nil })
        return SoundCollector.frequency(of: SoundCollector.samples(of: try #require(newest(sink))), sampleRate: 48000)
    }

    @Test("A server that starts later, or is restarted, is listed")
    func laterServer() async throws {
        let server = try SoundServer()
        server.kill()
        let updates = try PulseSource.deviceUpdates(server: server.address, retryInterval: .milliseconds(50))
        var lists = updates.makeAsyncIterator()
        for _ in 0..<2 {
            let first = await lists.next()
            #expect(throws: CaptureError.self) { try #require(first).get() }
            try server.start()
            var devices: [AudioDevice]?
            while devices == nil, let list = await lists.next() { devices = try? list.get() }
            #expect(devices?.map(\.name) == ["probe"])
            server.kill()
        }
    }

    @Test(
        "Audio that is played into an output is recorded from its monitor, in its frequency, without a gap",
        arguments: [
            PulseSource.Input.system(sink: nil), .system(sink: "probe"), .microphone(device: nil),
            .microphone(device: "desk"),
        ])
    func tone(input: PulseSource.Input) throws {
        let server = try SoundServer()
        if case .microphone = input {
            try server.control("load-module", "module-remap-source", "source_name=desk", "master=probe.monitor")
        }
        let player = try server.play(frequency: 997, into: "probe")
        let (source, sink, observer) = try capture(input, of: server)
        let frequency = try #require(try frequency(sink))
        let frames = try #require(newest(sink))
        source.stop()
        player.stop()
        #expect(abs(frequency - 997) < 1)
        let isMicrophone = if case .microphone = input { true } else { false }
        #expect(
            source.audioFormat
                == AudioFormat(sampleRate: 48000, channels: isMicrophone ? 1 : 2, isVoice: isMicrophone))
        #expect(frames.allSatisfy { $0.channels == source.audioFormat.channels && $0.sampleRate == 48000 })
        for (frame, next) in zip(frames, frames.dropFirst()) {
            let gap = next.timestamp - frame.timestamp - frame.duration
            #expect(abs(gap / .microseconds(1)) <= next.duration / .microseconds(100) + 1)
        }
        #expect(sink.ends.count == 1)
        #expect(sink.ends.allSatisfy { $0 == nil })
        #expect(observer.events == [.started, .stopped])
        let delays = zip(sink.frames, sink.arrivals).map { ($1 - $0.timestamp) / .milliseconds(1) }
        let steady = delays.suffix(20).sorted()
        print("\(input): \(frequency) Hz, given \(steady[10]) ms after it was taken, \(source.overruns) overruns")
    }

    @Test("A source can be started again, and stopped before the server has answered")
    func restart() throws {
        let server = try SoundServer()
        let (source, sink, observer) = try capture(.system(sink: nil), of: server)
        #expect(sink.wait { !$0.frames.isEmpty })
        source.stop()
        try source.start()
        source.stop()
        try source.start()
        let count = sink.frames.count
        #expect(sink.wait { $0.frames.count > count })
        source.stop()
        #expect(observer.events == [.started, .stopped, .started, .stopped, .started, .stopped])
    }

    @Test("Nothing is recorded without a sink, and recording continues with the next one, without an overrun")
    func rests() throws {
        let server = try SoundServer()
        let player = try server.play(frequency: 997, into: "probe")
        let (source, sink, observer) = try capture(.system(sink: nil), of: server)
        #expect(try abs(#require(try frequency(sink)) - 997) < 1)
        #expect(try server.recordings() == 1)
        source.remove(sink)
        while try server.recordings() > 0 { usleep(50_000) }
        let later = SoundCollector(now: monotonicNow)
        source.add(later)
        #expect(try abs(#require(try frequency(later)) - 997) < 1)
        source.stop()
        player.stop()
        #expect(source.overruns == 0)
        #expect(observer.events == [.started, .stopped])
        #expect(sink.ends.isEmpty && later.ends.count == 1)
    }

    @Test("Devices are listed with the defaults, and no monitor is among the inputs")
    func devices() throws {
        let server = try SoundServer(sinks: ["first", "second"])
        try server.control("set-default-sink", "second")
        try server.control("load-module", "module-virtual-source", "source_name=desk", "master=first.monitor")
        try server.control("set-default-source", "desk")
        let devices = try PulseSource.devices(server: server.address)
        #expect(devices.map(\.name) == ["desk", "first", "second"])
        #expect(devices.map(\.kind) == [.source, .sink, .sink])
        #expect(devices.map(\.isDefault) == [true, false, true])
        #expect(devices.allSatisfy { !$0.description.isEmpty })
        #expect(throws: CaptureError.self) { try PulseSource.devices(server: "unix:/nowhere") }
    }

    @Test("Capture without a named output follows a change of the default output")
    func followsDefault() throws {
        let server = try SoundServer(sinks: ["first", "second"])
        try server.control("set-default-sink", "first")
        let players = (
            try server.play(frequency: 500, into: "first"), try server.play(frequency: 1500, into: "second")
        )
        let (source, sink, _) = try capture(.system(sink: nil), of: server)
        defer {
            source.stop()
            players.1.stop()
        }
        #expect(abs(try #require(try frequency(sink)) - 500) < 1)
        // The server would move it too.
        players.0.stop()
        try server.control("set-default-sink", "second")
        #expect(
            sink.wait {
                newest($0).flatMap { SoundCollector.frequency(of: SoundCollector.samples(of: $0), sampleRate: 48000) }
                    .map { abs($0 - 1500) < 1 } ?? false
            })
    }

    @Test("Stop returns while the server does not answer")
    func silentServer() throws {
        let server = try SoundServer()
        let (source, sink, observer) = try capture(.system(sink: nil), of: server)
        #expect(sink.wait { !$0.frames.isEmpty })
        server.suspend(true)
        source.stop()
        try source.start()
        source.stop()
        server.suspend(false)
        #expect(observer.events == [.started, .stopped, .started, .stopped])
    }

    @Test("An unknown device is an error that names the devices of its kind")
    func unknownDevice() throws {
        let server = try SoundServer()
        #expect(
            throws: CaptureError.unknownSoundDevice(name: "mike", kind: .source, devices: [])
        ) { try PulseSource(.microphone(device: "mike"), server: server.address) }
        #expect(
            throws: CaptureError.unknownSoundDevice(name: "speaker", kind: .sink, devices: ["probe"])
        ) { try PulseSource(.system(sink: "speaker"), server: server.address) }
        #expect(throws: CaptureError.monitorIsNotMicrophone(name: "probe.monitor", sink: "probe")) {
            try PulseSource(.microphone(device: "probe.monitor"), server: server.address)
        }
        let error = CaptureError.unknownSoundDevice(name: "speaker", kind: .sink, devices: ["probe"])
        #expect("\(error)".hasPrefix("the audio server has no output 'speaker'. It has: probe"))
    }
}

@Suite struct MissingSoundServerTests {
    @Test(
        "An error code of libpulse becomes a reason in plain words",
        arguments: [
            (1, "it refuses this user"), (6, "nothing listens there"), (7, "it does not speak PulseAudio's protocol"),
            (11, "it closed the connection"),
        ] as [(Int32, String)])
    func reasons(number: Int32, reason: String) {
        #expect(PulseSession.message(number) == reason)
    }

    @Test(
        "A missing audio server is an error with a remedy",
        arguments: [PulseSource.Input.microphone(device: nil), .system(sink: nil), .system(sink: "x")])
    func noServer(input: PulseSource.Input) throws {
        let address = "unix:/nowhere/pulse"
        do throws(CaptureError) {
            _ = try PulseSource(input, server: address)
            Issue.record("a server was found")
        } catch {
            guard case .soundServerUnavailable(address, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.kind == .systemFailure)
            #expect(error.description.hasPrefix("no audio server answers at 'unix:/nowhere/pulse'"))
            #expect(error.description.hasSuffix("start PulseAudio or PipeWire, or set PULSE_SERVER"))
        }
    }
}

@Suite struct PulseDevicesTests {
    private static let devices = PulseDevices(
        sources: [
            PulseDevice(name: "speakers.monitor", monitor: nil, isMonitor: true),
            PulseDevice(name: "desk", monitor: nil),
            PulseDevice(name: "head", monitor: nil),
        ], sinks: [PulseDevice(name: "speakers", monitor: "speakers.monitor")], defaultSource: "desk",
        defaultSink: "speakers")

    @Test(
        "A source has the requested kind",
        arguments: [
            (PulseSource.Input.microphone(device: nil), "desk"), (.microphone(device: "head"), "head"),
            (.system(sink: nil), "speakers.monitor"), (.system(sink: "speakers"), "speakers.monitor"),
        ])
    func kinds(input: PulseSource.Input, source: String) throws {
        #expect(try Self.devices.source(for: input) == source)
    }

    @Test("A default source that is a monitor is not a microphone, with and without other sources")
    func monitorByDefault() {
        var devices = Self.devices
        devices.defaultSource = "speakers.monitor"
        #expect(throws: CaptureError.unknownSoundDevice(name: nil, kind: .source, devices: ["desk", "head"])) {
            try devices.source(for: .microphone(device: nil))
        }
        devices.sources.removeLast(2)
        #expect(throws: CaptureError.unknownSoundDevice(name: nil, kind: .source, devices: [])) {
            try devices.source(for: .microphone(device: nil))
        }
    }

    @Test("A monitor is rejected as a microphone, and the error names its output")
    func namedMonitor() {
        var devices = Self.devices
        devices.sources.append(PulseDevice(name: "voice", monitor: nil, isMonitor: true))
        devices.sinks.append(PulseDevice(name: "room", monitor: "voice"))
        devices.sources.append(PulseDevice(name: "desk.monitor", monitor: nil))
        for (name, sink) in [("speakers.monitor", "speakers"), ("voice", "room")] {
            #expect(throws: CaptureError.monitorIsNotMicrophone(name: name, sink: sink)) {
                try devices.source(for: .microphone(device: name))
            }
        }
        #expect(throws: Never.self) { try devices.source(for: .microphone(device: "desk.monitor")) }
        let error = CaptureError.monitorIsNotMicrophone(name: "voice", sink: "room")
        #expect(error.description.hasPrefix("'voice' is not a microphone: it gives what the machine plays; "))
        #expect(error.description.hasSuffix("; share the system audio of the output 'room'"))
    }

    @Test("A named device is never replaced by another")
    func named() {
        var devices = Self.devices
        devices.sources.removeAll { $0.name == "head" }
        #expect(throws: CaptureError.unknownSoundDevice(name: "head", kind: .source, devices: ["desk"])) {
            try devices.source(for: .microphone(device: "head"))
        }
        #expect(throws: CaptureError.unknownSoundDevice(name: "headset", kind: .sink, devices: ["speakers"])) {
            try devices.source(for: .system(sink: "headset"))
        }
    }
}
