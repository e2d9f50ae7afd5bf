import ArgumentParser
import Foundation
import RTCShareSignaling
import RTCShareVideoCoding
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// `rtcshare send --whip` and `serve --whip`, with a WHIP server of aiortc, which decodes what it gets.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.mustRun || Peers.python != nil, "needs a Python with aiortc, numpy and pillow (RTCSHARE_PYTHON)"))
    struct PublishingTests {
        /// What the server decoded of a session.
        private struct Seen: Decodable {
            let session: Int
            let frames: Int
            let level: Double
            let width: Int
            let height: Int
            let colours: Int
        }

        private static let script = "whip_server.py"

        private static func environment(_ folder: TemporaryFolder) -> [String: String] {
            // Proxies of this machine's user are none of the test's.
            Interop.CommandLineTests.environment(folder).merging([
                "XDG_RUNTIME_DIR": folder.file("run").path, "http_proxy": "http://127.0.0.1:9",
                "https_proxy": "http://127.0.0.1:9", "RTCSHARE_LOG": "debug",
            ]) { $1 }
        }

        /// Waits until the server has decoded so many frames of a session, and sound.
        private func wait(
            for frames: Int, of session: Int = 1, at server: PeerServer, from sender: RunningProgram
        ) async throws {
            try await sender.wait(for: "\(frames) frames of session \(session)", timeout: .seconds(60)) {
                server.lines(of: Seen.self).contains {
                    $0.session == session && $0.frames >= frames && $0.colours > 20 && $0.level > 0.05
                }
            }
        }

        private func status(_ share: Share) async throws -> ControlledShare {
            let outcome = try await share.run(["status", "--json"], timeout: .seconds(30))
            try #require(outcome.status == 0, "\(outcome.standardError)")
            return try ControlJSON.decode(ControlledShare.self, from: outcome.standardOutput.utf8)
        }

        @Test("Picture and sound are published over TLS, whose root is named, and the token is seen nowhere")
        func published() async throws {
            let folder = try TemporaryFolder()
            let own = try await TestCertificate(for: "IP:127.0.0.1", in: folder)
            let server = try await PeerServer(
                Self.script, ["--token", "open-sesame", "--tls", own.certificate.path, own.key.path], in: folder)
            defer { server.program.stop() }
            let token = try folder.write("open-sesame\n", to: "token")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token.path)
            let options = [
                "--whip", server.url + "?key=hidden-key", "--whip-token-file", token.path, "--source",
                "test:320x240@30", "--audio", "beep",
            ]
            let stranger = try await Share(environment: Self.environment(folder), in: folder).run(["send"] + options)
            #expect(
                stranger.status == 69 && stranger.standardError.contains("SSL_CERT_FILE"), "\(stranger.standardError)")

            let environment = Self.environment(folder).merging(["SSL_CERT_FILE": own.certificate.path]) { $1 }
            let share = try Share(environment: environment, in: folder)
            let sending = try share.start(["send"] + options)
            defer { sending.stop() }
            try await wait(for: 30, at: server, from: sending)
            let status = try await status(share)
            let place = try #require(status.servers.first)
            #expect(place.kind == "whip" && place.name == server.place && place.state == .published && place.count == 1)
            #expect(status.state == .sharing && status.viewers.isEmpty)
            let told = try await share.run(["status"], timeout: .seconds(30)).standardOutput
            #expect(told.contains("server 1:     whip \(server.place), published since"), "\(told)")
            let arguments = try String(
                decoding: Data(contentsOf: URL(fileURLWithPath: "/proc/\(sending.processIdentifier)/cmdline")),
                as: UTF8.self)
            let host = try #require(URL(string: server.url)?.port.map { "https://127.0.0.1:\($0)/" })
            #expect(arguments.contains(host + "*****") && !arguments.contains("live"), "\(arguments)")
            sending.interrupt()
            let outcome = try await sending.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let requests = server.requests()
            #expect(requests.map(\.method) == ["POST", "DELETE"])
            #expect(requests.first?.path == "/live/whip?key=hidden-key")
            #expect(requests.last?.path == "/live/sessions/1?of=alice")
            #expect(requests.allSatisfy { $0.authorization == "Bearer open-sesame" })
            for text in [outcome.standardError, outcome.standardOutput, told, arguments] {
                for secret in ["open-sesame", "hidden-key", "/live"] { #expect(!text.contains(secret), "\(text)") }
            }
        }

        @Test(
            "A server that takes H.264 alone is sent it, whichever profile it names",
            .enabled(if: VideoCodec.h264.unavailability() == nil, "libopenh264-7 is not installed"),
            .timeLimit(.minutes(3)),
            arguments: [[], ["--profile", "none"], ["--profile", "42001f"], ["--profile", "640c1f"]])
        func onlyH264(options: [String]) async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer(Self.script, ["--codec", "H264"] + options, in: folder)
            defer { server.program.stop() }
            let share = try Share(environment: Self.environment(folder), in: folder)
            let sending = try share.start([
                "send", "--whip", server.url, "--source", "test:320x240@30", "--audio", "beep",
            ])
            defer { sending.stop() }
            try await wait(for: 30, at: server, from: sending)
            await waitUntil { (try? await status(share).servers.first?.codec) == "H264" }
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test(
            "A server that takes the first codec of an offer is sent the one of --codec",
            .enabled(if: VideoCodec.h264.unavailability() == nil, "libopenh264-7 is not installed"),
            .timeLimit(.minutes(3)))
        func chosenCodec() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer(Self.script, ["--first"], in: folder)
            defer { server.program.stop() }
            let share = try Share(environment: Self.environment(folder), in: folder)
            let sending = try share.start([
                "send", "--whip", server.url, "--source", "test:320x240@30", "--audio", "beep", "--codec", "h264",
            ])
            defer { sending.stop() }
            try await wait(for: 30, at: server, from: sending)
            await waitUntil { (try? await status(share).servers.first?.codec) == "H264" }
        }

        @Test("A server that is killed and started again gets the share again, by itself")
        func startedAgain() async throws {
            let folder = try TemporaryFolder()
            let first = try await PeerServer(Self.script, in: folder)
            defer { first.program.stop() }
            let url = first.url
            let port = try #require(URL(string: url)?.port)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let sending = try share.start(["send", "--whip", url, "--source", "test:320x240@30", "--audio", "beep"])
            defer { sending.stop() }
            try await wait(for: 10, at: first, from: sending)
            kill(first.program.processIdentifier, SIGKILL)
            try await sending.wait(for: "the news", timeout: .seconds(20)) {
                sending.standardError.contains("\(first.place) does not answer. Waiting for it")
            }
            #expect(try await status(share).servers.first?.state == .disconnected)
            let second = try await PeerServer(Self.script, ["--port", "\(port)"], in: folder)
            defer { second.program.stop() }
            try await wait(for: 10, at: second, from: sending)
            #expect(sending.standardError.contains("\(first.place): the server does not know this session"))
            #expect(sending.standardError.contains("The share is published to \(first.place) again."))
            #expect(second.requests().first?.method == "PATCH")
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0)
            #expect(second.requests().last?.method == "DELETE")
        }

        @Test("A share behind a link is published at the same time, and a place that fails leaves all others alone")
        func severalPlaces() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer(Self.script, in: folder)
            defer { server.program.stop() }
            let share = try await ServedShare(
                [
                    "--whip", server.url, "--whip", "http://127.0.0.1:9/whip", "--whip", server.url + "/nowhere",
                    "--microphone", "tone",
                ], in: folder)
            defer { share.stop() }
            let viewer = try share.view(["--duration", "1"])
            defer { viewer.stop() }
            let watched = try await viewer.outcome(timeout: .seconds(40))
            #expect(
                watched.status == 0 && watched.standardError.contains("screen of alice"), "\(watched.standardError)")
            try await wait(for: 30, at: server, from: share.program)
            let places = try await share.status().servers
            try #require(places.map(\.id) == [1, 2, 3])
            #expect(places[0].state == .published && places[2].state == .failed)
            // It may be trying just now.
            #expect(places[1].state == .waiting || places[1].state == .connecting)
            #expect(places[1].failure?.contains("can't reach") == true)
            #expect(places[2].failure?.contains("(HTTP 404") == true && places[2].nextAttempt == nil)
            let said = share.program.standardError
            #expect(said.contains("The share is published to \(server.place) (server 1)."))
            #expect(said.contains("The share is not published to \(server.place) (server 3)"))
            // Many servers expect a stream key in the path, and the presenter's page is on the shared screen.
            let messages = try await share.status().messages
            #expect(!"\(places)\(messages)".contains("/live"), "\(messages)")
            #expect(said.contains("not the microphone"), "\(said)")
            try await share.ask("stop")
            #expect(server.requests().last?.method == "DELETE")
        }

        @Test("What a server says of its refusal a person reads, and the status says what kind it is")
        func refused() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer(Self.script, ["--token", "open-sesame"], in: folder)
            defer { server.program.stop() }
            let environment = Self.environment(folder)
            let cases: [(url: String, token: String?, status: Int32, words: [String])] = [
                (server.url, nil, 77, ["the server refuses: the door is closed today", "--whip-token-file"]),
                (server.url, "a-wrong-one", 77, ["the door is closed today", "check the token"]),
                ("http://127.0.0.1:9/whip", nil, 69, ["can't reach http://127.0.0.1:9"]),
                ("ftp://127.0.0.1/whip", nil, 64, ["not the URL of a WHIP endpoint"]),
                (server.url, "two words", 65, ["RTCSHARE_WHIP_TOKEN is not a token"]),
            ]
            for (url, token, status, words) in cases {
                let share = try Share(
                    environment: environment.merging(["RTCSHARE_WHIP_TOKEN": token ?? ""]) { $1 }, in: folder)
                let outcome = try await share.run(["send", "--whip", url, "--source", "test:320x240@30"])
                #expect(outcome.status == status, "\(url): \(outcome.standardError)")
                for word in words { #expect(outcome.standardError.contains(word), "\(outcome.standardError)") }
                #expect(
                    !outcome.standardError.contains("Trying again") && !outcome.standardError.contains("a-wrong-one"))
            }
        }

        // MARK: Options

        private func tokens(_ options: [String], _ environment: [String: String] = [:]) throws -> [String?] {
            try PublishingOptions.parse(options).tokens(environment: environment).map { $0?.secretText }
        }

        @Test("Each server has its own token, and none gets another's")
        func tokens() throws {
            let folder = try TemporaryFolder()
            let files = try ["first", "second"].map { name in
                let file = try folder.write("\(name)-token\n", to: name)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                return file.path
            }
            let urls = ["--whip", "http://a.example/whip", "--whip", "http://b.example/whip"]
            let both = urls + ["--whip-token-file", files[0], "--whip-token-file"]
            #expect(try tokens(both + [files[1]]) == ["first-token", "second-token"])
            #expect(try tokens(both + ["none"]) == ["first-token", nil])
            #expect(try tokens(Array(urls.prefix(2)), ["RTCSHARE_WHIP_TOKEN": "third"]) == ["third"])
            #expect(try tokens(urls) == [nil, nil])
            #expect(throws: CommandFailure.self) { try tokens(urls, ["RTCSHARE_WHIP_TOKEN": "third"]) }
            #expect(throws: (any Error).self) { try tokens(urls + ["--whip-token-file", files[0]]) }
            #expect(throws: (any Error).self) { try tokens(["--whip-token-file", files[0]]) }
        }

        @Test("What can't be published, or would be silently something else, is refused before anything is opened")
        func usage() throws {
            let whip = ["send", "--whip", "http://a.example/whip"]
            for options in [
                ["--answer", "answer.sdp"], ["--camera", "test"], ["--microphone", "microphone"],
                ["--whip-token-file", "a", "--whip-token-file", "b"],
            ] {
                #expect(throws: (any Error).self) { try RTCShareCommand.parseAsRoot(whip + options) }
            }
            #expect(throws: Never.self) {
                try RTCShareCommand.parseAsRoot(whip + ["--whip-token-file", "a", "--audio", "tone"])
            }
        }
    }
}
