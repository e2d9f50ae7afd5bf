import Foundation
import Testing
import TestSupport

extension Interop {
    /// What the command line promises at its edges: exit codes, sessions, signals.
    @Suite(.serialized)
    struct CommandLineTests {
        static let testPattern = ["--source", "test:640x360@15"]
        /// Where a session is looked for if none is named; a test's own folder keeps the user's state out.
        static func environment(_ folder: TemporaryFolder) -> [String: String] {
            ["DISPLAY": "", "XDG_STATE_HOME": folder.file("state").path]
        }

        @Test("A certificate that is not the answer's ends with 76 and both fingerprints")
        func wrongCertificate() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            try await share.offer(Self.testPattern)
            let viewer = try await share.view(["--duration", "20"])
            defer { viewer.stop() }
            let (forged, genuine, wrong) = Self.forgeFingerprints(in: viewer.standardOutput)
            _ = try folder.write(forged, to: "answer.sdp")
            try #require(!genuine.isEmpty, "the answer has no fingerprint")

            let outcome = try await share.send(["--duration", "15"]).outcome(timeout: .seconds(40))
            #expect(outcome.status == 76, "\(outcome.standardError)")
            let said = outcome.standardError.uppercased()
            #expect(genuine.contains { said.contains($0) }, "what the peer has: \(outcome.standardError)")
            #expect(wrong.contains { said.contains($0) }, "what the answer says: \(outcome.standardError)")
        }

        @Test(
            "An answer that does not parse ends with 65 and names the file and the line",
            arguments: [
                ("hello, world\n", "answer.sdp is not a session description: it begins with \"hello, world\""),
                ("<!DOCTYPE html>\n<html></html>\n", "answer.sdp is an HTML page"),
                ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\nthis is no line\r\n", "line 3 of "),
                (
                    "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video nine UDP/TLS/RTP/SAVPF 96\r\n",
                    "line 5 of "
                ),
            ])
        func malformedAnswer(answer: String, words: String) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            try await share.offer(Self.testPattern)
            _ = try folder.write(answer, to: "answer.sdp")
            let outcome = try await share.send().outcome(timeout: .seconds(30))
            #expect(outcome.status == 65, "\(outcome.standardError)")
            #expect(outcome.standardError.contains(words), "\(outcome.standardError)")
        }

        @Test("An answer that is not there ends with 66")
        func missingAnswer() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            try await share.offer(Self.testPattern)
            let outcome = try await share.send().outcome(timeout: .seconds(30))
            #expect(outcome.status == 66, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("answer.sdp"), "\(outcome.standardError)")
        }

        @Test("Without a display and a sound server the list gives the reason for each part that is empty")
        func nothingToList()
            async throws
        {
            let folder = try TemporaryFolder()
            var environment = Self.environment(folder)
            environment["PULSE_SERVER"] = "unix:" + folder.file("none").path
            let share = try Share(environment: environment, in: folder)
            let outcome = try await share.run(["sources", "--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardError.isEmpty, "\(outcome.standardError)")
            let listed = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8)) as? [String: Any]
            for part in ["portal", "displays", "outputs", "windows", "cameras", "sounds"] {
                #expect((listed?[part] as? [Any])?.isEmpty == true, "\(part)")
            }
            let problems = try #require(listed?["problems"] as? [String: String])
            #expect(problems.keys.sorted() == ["cameras", "displays", "sounds", "windows"])
            #expect(problems["displays"]?.hasPrefix("DISPLAY is not set") == true)
            let table = try await share.run(["sources"])
            #expect(table.status == 0 && table.standardError.isEmpty, "\(table.standardError)")
            #expect(table.standardOutput.contains("Displays\n  none: DISPLAY is not set"))
            #expect(table.standardOutput.contains("Always available\n  test "))
        }

        @Test("An unknown option ends with 64")
        func unknownOption() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            #expect(try await share.run(["offer", "--no-such-option"]).status == 64)
        }

        @Test("The demo meets a viewer over loopback and leaves a picture, without a display")
        func demoMeetsViewer() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let outcome = try await share.run(["demo"], timeout: .seconds(120))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let said = outcome.standardOutput + outcome.standardError
            #expect(said.uppercased().contains("SSIM"), "\(said)")
            #expect(outcome.standardOutput.hasSuffix("the viewer received video and audio.\n"), "\(said)")
            let pictures = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                .filter { $0.hasSuffix(".png") }
            let picture = try #require(pictures.first, "no PNG in the working folder; the demo said: \(said)")
            let signature = try Data(contentsOf: folder.file(picture)).prefix(8)
            #expect([UInt8](signature) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

            let measured = try await share.run(["demo", "--duration", "1", "--json"], timeout: .seconds(120))
            let object = try JSONSerialization.jsonObject(with: Data(measured.standardOutput.utf8))
            let results = try #require(object as? [String: Any])
            #expect(results["framesReceived"] as? Int ?? 0 > 0 && results["width"] as? Int == 1280, "\(results)")
        }

        @Test(
            "Partial updates are sent of a picture that stays, and with --no-partial-updates none is",
            arguments: [true, false])
        func partialUpdates(areSent: Bool) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let picture = Data((0..<4608).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let film = folder.file("still.y4m")
            try (Data("YUV4MPEG2 W64 H48 F10:1 C420\nFRAME\n".utf8) + picture).write(to: film)
            try await share.offer(["--source", "file:\(film.path):loop"])
            let viewer = try await share.view(["--duration", "20"])
            defer { viewer.stop() }
            let sent = try await share.send(
                ["--duration", "3", "--stats", "stats"] + (areSent ? [] : ["--no-partial-updates"])
            ).outcome(timeout: .seconds(40))
            #expect(sent.status == 0, "\(sent.standardError)")
            let lines = try String(contentsOf: folder.file("stats"), encoding: .utf8).split(separator: "\n")
            let last = Data(try #require(lines.last).utf8)
            let report = try #require(try JSONSerialization.jsonObject(with: last) as? [[String: Any]])
            let video = report.first { object in
                object["type"] as? String == "outbound-rtp" && object["kind"] as? String == "video"
            }
            let outbound = try #require(video)
            let encoded = try #require(outbound["framesEncoded"] as? Int)
            let updates = try #require(outbound["partialUpdatesEncoded"] as? Int)
            #expect(outbound["driftsDetected"] as? Int == 0)
            #expect(encoded > 3 && (areSent ? updates > 0 : updates == 0), "\(updates) of \(encoded)")
        }

        @Test("The session holds secrets, so nobody else may read it")
        func sessionHoldsSecrets() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            try await share.offer(Self.testPattern)
            let attributes = try FileManager.default.attributesOfItem(atPath: share.session.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }

        @Test("A session of another version's layout is refused with 65, and both are named")
        func otherVersion() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let offer = try await share.offer(Self.testPattern)
            _ = try folder.write(offer, to: "answer.sdp")
            // What a version 2 file lacks must not make it look like no session at all.
            _ = try folder.write(#"{"createdAt":"2026-01-01T00:00:00Z","version":2}"#, to: "session")
            let outcome = try await share.send().outcome(timeout: .seconds(30))
            #expect(outcome.status == 65)
            #expect(outcome.standardError.contains("layout is 2, this one reads 6"), "\(outcome.standardError)")
        }

        @Test("A refused answer leaves the session whole, and the right one still works")
        func refusedAnswer() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let offer = try await share.offer(Self.testPattern)
            let viewer = try await share.view()
            defer { viewer.stop() }
            let genuine = viewer.standardOutput
            let refused = [offer, genuine.replacing("a=mid:", with: "a=mid:x"), "v=0\r\n"]
            for answer in refused {
                _ = try folder.write(answer, to: "answer.sdp")
                let outcome = try await share.send().outcome(timeout: .seconds(30))
                #expect(outcome.status == 65, "\(outcome.standardError)")
            }
            _ = try folder.write(genuine, to: "answer.sdp")
            let outcome = try await share.send(["--duration", "1"]).outcome(timeout: .seconds(40))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let seen = try await viewer.outcome(timeout: .seconds(20))
            #expect(seen.status == 0 && seen.standardError.contains("Video 1 is removed"), "\(seen.standardError)")
        }

        @Test(
            "What an offer can't be made of ends with 64",
            arguments: [
                ["--bind", "nowhere"], ["--public-ip", "nowhere"], ["--public-ip", "127.0.0.1"], ["--bind", "0.0.0.0"],
                ["--bind", "::"], ["--attendee", "#content"],
                ["--attendee", "alice#content"],
                ["--source", "nothing"], ["--port", "99999"],
            ])
        func impossibleOffers(options: [String]) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let outcome = try await share.run(["offer", "--session", share.session.path] + options)
            #expect(outcome.status == 64, "\(outcome.standardError)")
        }

        @Test("An address that a router forwards from is told with the port of each socket")
        func forwardedAddress() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            let offer = try await share.offer(Self.testPattern + ["--public-ip", "203.0.113.7"])
            let lines = offer.split(separator: "\r\n").filter { $0.hasPrefix("a=candidate:") }
            let ports = { (kind: String) in
                Set(
                    lines.filter { $0.contains(" typ \(kind)") && $0.contains(".") }.map { $0.split(separator: " ")[5] }
                )
            }
            #expect(!ports("srflx").isEmpty && ports("srflx").isSubset(of: ports("host")))
            #expect(lines.contains { $0.contains(" 203.0.113.7 ") && $0.contains(" raddr ") })
        }

        @Test("A duration that no clock holds is refused")
        func invalidDuration() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            for duration in ["1e300", "inf", "nan", "0", "-1"] {
                let outcome = try await share.run(["send", "--answer", "answer.sdp", "--duration=\(duration)"])
                #expect(outcome.status == 64, "\(duration): \(outcome.standardError)")
            }
        }

        @Test("SIGINT ends a share with 0, and the session can't be used again")
        func sigintEndsShare() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: Self.environment(folder), in: folder)
            try await share.offer(Self.testPattern)
            let viewer = try await share.view(["--duration", "60"])
            defer { viewer.stop() }
            let sending = try share.send()
            defer { sending.stop() }
            try await viewer.wait(for: "a tile named alice", timeout: .seconds(30)) {
                viewer.standardError.contains("alice")
            }
            sending.interrupt()
            let outcome = try await sending.outcome(timeout: .seconds(10))
            #expect(outcome.status == 0, "\(outcome.standardError)")

            let again = try await share.send().outcome(timeout: .seconds(30))
            #expect(again.status == 65 || again.status == 66, "\(again.standardError)")
            #expect(again.standardError.lowercased().contains("session"), "\(again.standardError)")
        }

        /// The answer with the first byte of each fingerprint changed; what the fingerprints were, and what they are now.
        private static func forgeFingerprints(in answer: String) -> (String, genuine: [String], forged: [String]) {
            var genuine: [String] = []
            var forged: [String] = []
            let lines = answer.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
                guard line.hasPrefix("a=fingerprint:"), let space = line.firstIndex(of: " ") else {
                    return String(line)
                }
                let value = line[line.index(after: space)...].uppercased()
                let other = (value.hasPrefix("00") ? "FF" : "00") + value.dropFirst(2)
                genuine.append(value)
                forged.append(other)
                return line[...space] + other
            }
            return (lines.joined(separator: "\r\n"), genuine, forged)
        }
    }
}
