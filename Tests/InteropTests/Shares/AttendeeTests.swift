import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// An attendee's own picture and voice beside the shared content and its sound, through the command line.
    @Suite(.serialized)
    struct AttendeeTests {
        @Test(
            "Chromium sees and hears alice and alice's content together",
            .enabled(if: Peers.hasCommandLine && Peers.has(.chromium), "chromium is not installed"))
        func seenInChromium() async throws {
            let report = try await show(to: .chromium, seconds: 18)
            // Chromium decodes mono unless its page asks otherwise, and the viewer's page does.
            #expect(report.sound(of: "alice")?.rmsDbfs ?? -120 > -20)
            let offsets = try #require(report.playoutOffsetsMs)
            print("Chromium: sound after picture by its own estimate: \(offsets) ms")
            // Where a busy machine has Chromium buffer its sound for longer, the picture follows by 80 ms a second at most,
            // and half of the run may pass until then. What is wrong with our clocks would stay. ITU-R BT.1359: from 125 ms
            // on, sound that comes after its picture is noticed.
            let together = offsets.indices.dropLast(4).contains { start in
                offsets[start..<start + 5].allSatisfy { abs($0) <= 125 }
            }
            #expect(together, "\(offsets)")
        }

        @Test(
            "aiortc sees and hears alice and alice's content together, flash and beep at one time",
            .enabled(if: Peers.hasCommandLine && Peers.has(.aiortc), "RTCSHARE_PYTHON has no aiortc"))
        func seenInAiortc() async throws {
            let report = try await show(to: .aiortc, seconds: 8)
            // By the sender reports: what is ours of lip sync. A frame of 30 a second and Opus' look-ahead are in it.
            #expect(report.avClock == "sender reports")
            let offset = try #require(report.avOffsetMedianMs)
            print("aiortc: the beep is \(offset) ms after the flash")
            #expect(abs(offset) <= 40)
        }

        @Test(
            "Firefox sees alice and alice's content together",
            .enabled(if: Peers.hasCommandLine && Peers.has(.firefox), "firefox-esr is not installed"))
        func seenInFirefox() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            let (report, _) = try await share.show(to: .firefox, seconds: 6, source: Self.sources)
            try checkPictures(report)
        }

        /// The content's sound is the beep that goes with the test pattern's flash, alice's voice a tone.
        private static let sources = [
            "--source", "test:1280x720@30", "--audio", "beep", "--camera", "test:640x360@15", "--microphone",
            "tone:880",
        ]

        private func show(to viewer: Viewer, seconds: Int) async throws -> ViewerReport {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            let (report, _) = try await share.show(to: viewer, seconds: seconds, source: Self.sources)
            try checkPictures(report)
            let voice = try #require(report.sound(of: "alice"))
            #expect(abs((voice.peakFrequencyHz ?? 0) - 880) < 3)
            let beeps = try #require(report.sound(of: "alice#content"))
            #expect(abs((beeps.peakFrequencyHz ?? 0) - 1000) < 10)
            #expect(beeps.beepsMs.count >= seconds / 2, "a beep at each second")
            return report
        }

        private func checkPictures(_ report: ViewerReport) throws {
            let content = try #require(report.video(of: "alice#content"))
            #expect(content.sizes.contains { $0.width == 1280 && $0.height == 720 })
            let camera = try #require(report.video(of: "alice"))
            // A busy machine may be given less of it later.
            #expect(camera.sizes.contains { $0.width == 640 && $0.height == 360 })
        }
    }

    /// What the machine plays and hears, through a sound server of the test's own.
    @Suite(.serialized)
    struct SystemSoundTests {
        static let requirements: ConditionTrait = .enabled(
            if: Peers.mustRun || Peers.hasCommandLine && Peers.has(.aiortc) && Peers.hasPulseAudio,
            "needs pulseaudio, pulseaudio-utils and a Python with aiortc (RTCSHARE_PYTHON)")

        @Test("What the machine plays is the content's sound, what a microphone hears is alice's", requirements)
        func soundsApart() async throws {
            let folder = try TemporaryFolder()
            let daemon = try await PulseDaemon(sinks: ["speakers", "room"], in: folder)
            let music = try daemon.play(hertz: 440, seconds: 60, into: "speakers")
            defer { music.stop() }
            let voice = try daemon.play(hertz: 700, seconds: 60, into: "room")
            defer { voice.stop() }
            let loading = ["load-module", "module-remap-source", "source_name=desk", "master=room.monitor"]
            #expect(try await daemon.run("pactl", loading).status == 0)
            let share = try Share(environment: daemon.environment, in: folder)
            let (report, _) = try await share.show(
                to: .aiortc, seconds: 6,
                source: ["--source", "test:320x180@10", "--audio", "system", "--microphone", "microphone:desk"])
            let content = try #require(report.sound(of: "alice#content"))
            #expect(abs((content.peakFrequencyHz ?? 0) - 440) < 3)
            let alice = try #require(report.sound(of: "alice"))
            #expect(abs((alice.peakFrequencyHz ?? 0) - 700) < 3)
        }

        @Test("A share without a microphone continues, and says so, until there is one", requirements)
        func missingMicrophone() async throws {
            let folder = try TemporaryFolder()
            let daemon = try await PulseDaemon(sinks: ["speakers"], in: folder)
            let share = try await ServedShare(
                ["--microphone", "microphone"], environment: ["PULSE_SERVER": daemon.environment["PULSE_SERVER"] ?? ""],
                in: folder)
            defer { share.stop() }
            let reason = "the audio server has no microphone"
            let line = "The share continues without the microphone: \(reason)."
            try await share.program.wait(for: line, timeout: .seconds(20)) {
                share.program.standardError.contains(line)
            }
            #expect(try await share.status().microphone?.interruption == reason)
            #expect(try await share.ask("status").contains("microphone (\(reason))"))
            let loading = ["load-module", "module-remap-source", "source_name=desk", "master=speakers.monitor"]
            #expect(try await daemon.run("pactl", loading).status == 0)
            try await share.program.wait(for: "the microphone", timeout: .seconds(20)) {
                share.program.standardError.contains("The microphone is back.")
            }
            let status = try await share.status()
            #expect(status.microphone?.spec == "microphone" && status.microphone?.interruption == nil)
            #expect(status.sounds?.map(\.spec) == ["tone"])
        }

        @Test("Microphone and system sound are mixed into one where both are asked for", requirements)
        func soundsMixed() async throws {
            let folder = try TemporaryFolder()
            let daemon = try await PulseDaemon(sinks: ["speakers", "room"], in: folder)
            let music = try daemon.play(hertz: 440, amplitude: 0.4, seconds: 60, into: "speakers")
            defer { music.stop() }
            let share = try Share(environment: daemon.environment, in: folder)
            let source = [
                "--source", "test:320x180@10", "--audio", "system", "--audio", "tone:660",
            ]
            try await share.offer(source)
            let viewer = try await share.view(["--record", "share.webm", "--duration", "4"])
            defer { viewer.stop() }
            let sending = try share.send(["--duration", "30"])
            defer { sending.stop() }
            let outcome = try await viewer.outcome(timeout: .seconds(60))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let samples = try await RecordedFilm.sound("share.webm", in: folder)
            let heard = Array(samples.suffix(PulseDaemon.sampleRate))
            #expect(PulseDaemon.amplitude(ofHertz: 440, in: heard) > 0.2)
            #expect(PulseDaemon.amplitude(ofHertz: 660, in: heard) > 0.1)
        }
    }
}
