import Foundation
import Testing
import TestSupport

extension Interop.CommandLineTests {
    @Test("A recording has the content with its sound, and the attendee's own beside it")
    func recording() async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        try await share.offer(
            Self.testPattern + ["--audio", "tone:440", "--camera", "test:320x180@10", "--microphone", "tone:880"])
        let viewer = try await share.view(["--record", "share.webm", "--snapshot", "seen.png", "--duration", "3"])
        defer { viewer.stop() }
        let sending = try share.send(["--duration", "30"])
        defer { sending.stop() }
        let outcome = try await viewer.outcome(timeout: .seconds(60))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        for line in ["screen of alice, 640x360", "camera of alice, 320x180", "audio of alice's microphone is added.\n"]
        {
            #expect(outcome.standardError.contains(line), "\(outcome.standardError)")
        }
        let film = try await RecordedFilm.report("share.webm", in: folder)
        #expect(film.sizes(of: "alice#content") == [[640, 360]] && film.sizes(of: "alice") == [[320, 180]])
        for (track, hertz) in [440.0, 880].enumerated() {
            let heard = try await RecordedFilm.sound("share.webm", track: track, in: folder)
            #expect(
                PulseDaemon.amplitude(ofHertz: hertz, in: Array(heard.suffix(PulseDaemon.sampleRate))) > 0.1, "\(track)"
            )
        }
    }

    @Test("What the offer did not announce can't be sent, and the session stays whole")
    func unannouncedMedia() async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        try await share.offer(Self.testPattern)
        let viewer = try await share.view()
        defer { viewer.stop() }
        for option in [["--audio", "tone"], ["--microphone", "tone"], ["--camera", "test"]] {
            let outcome = try await share.send(option).outcome(timeout: .seconds(30))
            #expect(outcome.status == 64, "\(outcome.standardError)")
            #expect(outcome.standardError.contains(option[0]), "\(outcome.standardError)")
        }
        let outcome = try await share.send(["--audio", "none", "--duration", "1"]).outcome(timeout: .seconds(40))
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    @Test(
        "Sound and cameras that can't be end an offer with 64",
        arguments: [
            ["--audio", "nothing"], ["--audio", "tone:1"], ["--audio", "file:"], ["--microphone", "system:"],
            ["--camera", "camera:"],
        ])
    func impossibleSources(options: [String]) async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        let outcome = try await share.run(["offer", "--session", share.session.path] + options)
        #expect(outcome.status == 64, "\(outcome.standardError)")
    }

    @Test("A sound file that is not there ends a send with 66, one that is none with 65")
    func badSoundFile() async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        try await share.offer(Self.testPattern + ["--audio", "tone"])
        let viewer = try await share.view()
        defer { viewer.stop() }
        _ = try folder.write("not a sound", to: "text.wav")
        for (file, status) in [("missing.wav", Int32(66)), ("text.wav", 65)] {
            let outcome = try await share.send(["--audio", "file:\(file)"]).outcome(timeout: .seconds(30))
            #expect(outcome.status == status, "\(outcome.standardError)")
            #expect(outcome.standardError.contains(file), "\(outcome.standardError)")
        }
    }

    @Test("A sound that ends leaves the picture going on")
    func soundEnds() async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        let samples = [UInt8](repeating: 0, count: 8000 * 2)
        let header = Array("RIFF".utf8) + Self.bytes(36 + samples.count) + Array("WAVEfmt ".utf8) + Self.bytes(16)
        let format: [UInt8] = [1, 0, 1, 0] + Self.bytes(8000) + Self.bytes(16_000) + [2, 0, 16, 0]
        try Data(header + format + Array("data".utf8) + Self.bytes(samples.count) + samples)
            .write(to: folder.file("second.wav"))
        try await share.offer(Self.testPattern + ["--audio", "file:second.wav"])
        let viewer = try await share.view()
        defer { viewer.stop() }
        let outcome = try await share.send(["--duration", "3"]).outcome(timeout: .seconds(40))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardError.contains("has ended after 3 seconds."), "\(outcome.standardError)")
    }

    @Test("A file that can't be written is told of before the viewer answers", arguments: ["--record", "--snapshot"])
    func unwritableFile(option: String) async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        try await share.offer(Self.testPattern)
        let ending = option == "--record" ? "webm" : "png"
        try FileManager.default.createDirectory(at: folder.file("folder.\(ending)"), withIntermediateDirectories: true)
        for path in ["no/such/folder/file.\(ending)", "folder.\(ending)"] {
            let outcome = try await share.run(["view", "--offer", folder.file("offer.sdp").path, option, path])
            #expect(outcome.status == 73, "\(outcome.standardError)")
            #expect(outcome.standardOutput.isEmpty)
        }
    }

    @Test("Standard input is one picture, and no answer beside it")
    func standardInput() async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        let both = try await share.run(
            ["offer", "--session", share.session.path, "--source", "file:-", "--camera", "file:-"])
        #expect(both.status == 64, "\(both.standardError)")
        for option in ["--source", "--camera"] {
            let outcome = try await share.run(["send", option, "file:-"])
            #expect(outcome.status == 64 && outcome.standardError.contains(option), "\(outcome.standardError)")
        }
        try await share.offer(["--source", "file:-"])
        _ = try folder.write("v=0\r\n", to: "answer.sdp")
        let outcome = try await share.run(["send", "--session", share.session.path, "--answer", "-"])
        #expect(outcome.status != 0, "\(outcome.standardError)")
    }

    @Test("An offer's files are found from wherever the share is sent; a camera can be left out again")
    func offeredFiles()
        async throws
    {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        try await share.offer(Self.testPattern + ["--audio", "file:sound.wav", "--camera", "test"])
        let session = try String(contentsOf: share.session, encoding: .utf8)
        #expect(session.contains("/sound.wav"), "an absolute path")
        let viewer = try await share.view()
        defer { viewer.stop() }
        let outcome = try await share.send(["--audio", "none", "--camera", "none", "--duration", "1"])
            .outcome(timeout: .seconds(40))
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    @Test("What is not a film is refused, with the name that is right", arguments: ["share.ivf", "share.wav", "share"])
    func otherFiles(name: String) async throws {
        let folder = try TemporaryFolder()
        let share = try Share(environment: Self.environment(folder), in: folder)
        let outcome = try await share.run(["view", "http://127.0.0.1:9/", "--record", name])
        #expect(outcome.status == 64 && outcome.standardError.contains("ends in .webm"), "\(outcome.standardError)")
    }

    /// 32 bits, least first.
    private static func bytes(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
