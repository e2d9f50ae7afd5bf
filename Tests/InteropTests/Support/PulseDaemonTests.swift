import Foundation
import Testing
import TestSupport

/// That the tests' sound server is what the tests of sound take it for.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Peers.hasPulseAudio, "needs pulseaudio, and pactl, pacat and parec of pulseaudio-utils"))
struct PulseDaemonTests {
    @Test("A tone that is played into a sink is on its monitor, and not on another's")
    func monitoredTone() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await PulseDaemon(sinks: ["content", "other"], in: folder)
        let player = try daemon.play(hertz: 440, amplitude: 0.25, seconds: 20, into: "content")
        defer { player.stop() }
        // The player needs a moment to fill its buffer, so the tone may begin within the recording: its end is judged.
        let heard = try await daemon.record(seconds: 3, monitorOf: "content").suffix(PulseDaemon.sampleRate)
        #expect(abs(PulseDaemon.amplitude(ofHertz: 440, in: Array(heard)) - 0.25) < 0.02)
        #expect(PulseDaemon.amplitude(ofHertz: 660, in: Array(heard)) < 0.01)

        let elsewhere = try await daemon.record(seconds: 0.5, monitorOf: "other")
        #expect(elsewhere.allSatisfy { abs($0) < 0.001 })
    }

    @Test("The daemon leaves everything that it writes in the test's folder, and ends with it")
    func leavesNothingBehind() async throws {
        let folder = try TemporaryFolder()
        var daemon: PulseDaemon? = try await PulseDaemon(in: folder)
        let server = try #require(daemon?.environment["PULSE_SERVER"])
        #expect(server.hasPrefix("unix:\(folder.url.path)/"))
        let socket = String(server.dropFirst("unix:".count))
        daemon = nil
        #expect(!FileManager.default.fileExists(atPath: socket))
    }
}
