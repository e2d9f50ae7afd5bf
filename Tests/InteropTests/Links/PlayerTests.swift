import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// WHEP with other people's programs: a player of aiortc watches `rtcshare serve`, `rtcshare view` a server of aiortc.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.mustRun || Peers.python != nil, "needs a Python with aiortc, numpy and pillow (RTCSHARE_PYTHON)"))
    struct PlayerTests {
        /// What `Peers/whep_player.py` tells.
        struct Report: Decodable {
            struct Response: Decodable {
                let status: Int
                let type: String?
                let location: String?
                let etag: String?
                let acceptPatch: String?
            }

            struct Problem: Decodable {
                let status: Int
                let detail: String
            }

            let offered: Response
            let answer: String?
            let problem: Problem?
            let pictures: Int
            let width: Int?
            let height: Int?
            let soundPeak: Double
            let patched: Int?
            let deleted: Int?
            let deletedAgain: Int?
            let error: String?
        }

        private func play(
            _ share: ServedShare, _ options: [String], tokenInPath: Bool = false
        ) async throws -> Report {
            let token = tokenInPath ? [] : ["--token", share.token]
            let url = share.address + "whep" + (tokenInPath ? "/\(share.token)" : "")
            let outcome = try await RunningProgram.run(
                try #require(Peers.python), [Peers.script("whep_player.py"), "--url", url] + token + options,
                in: share.share.folder, timeout: .seconds(90))
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            try #require(outcome.status == 0, "\(outcome.standardError)")
            return try decoder.decode(Report.self, from: Data(outcome.standardOutput.utf8))
        }

        @Test("A player gets an answer, pictures, sound, and takes its leave, as the draft says")
        func draft() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let report = try await play(share, ["--patch", "etag"])
            #expect(report.error == nil && report.offered.status == 201)
            #expect(report.offered.type == "application/sdp")
            // Relative to the endpoint, so that it holds behind a proxy that leaves a prefix out (RFC 3986 §5.2).
            #expect(report.offered.location?.hasPrefix("whep/sessions/") == true)
            #expect(report.offered.etag?.first == "\"" && report.offered.etag?.last == "\"")
            #expect(report.offered.acceptPatch == "application/trickle-ice-sdpfrag")
            #expect(report.answer?.contains("a=sendonly") == true && report.answer?.contains("a=recvonly") == false)
            #expect(report.pictures >= 30 && report.width == 640 && report.height == 360)
            #expect(report.soundPeak > 0.01 && report.patched == 204)
            #expect(report.deleted == 200 && report.deletedAgain == 404)
            try await share.wait(for: "nobody", until: \.isEmpty)
        }

        /// What players in the field do otherwise.
        struct Oddity: CustomTestStringConvertible, Sendable {
            let testDescription: String
            var options: [String]
            var tokenInPath = false
            var patched: Int?
        }

        @Test(
            "Players that differ from the draft see the share too",
            arguments: [
                Oddity(testDescription: "the token without its scheme", options: ["--bare"]),
                Oddity(testDescription: "the token in the path", options: [], tokenInPath: true),
                Oddity(
                    testDescription: "no candidate, and a PATCH of the first section without If-Match",
                    options: ["--without-candidates", "--patch", "without"], patched: 204),
                Oddity(
                    testDescription: "a datachannel, and If-Match without its quotes",
                    options: ["--sections", "video,audio,datachannel", "--patch", "*"], patched: 204),
                Oddity(testDescription: "pictures alone", options: ["--sections", "video"]),
                Oddity(testDescription: "sound alone", options: ["--sections", "audio"]),
                Oddity(testDescription: "sound before the picture", options: ["--sections", "audio,video"]),
                Oddity(testDescription: "GStreamer's payload types", options: ["--gstreamer-numbers"]),
                Oddity(
                    testDescription: "a tag that is not the session's", options: ["--patch", "\"9\""], patched: 412),
            ])
        func oddities(oddity: Oddity) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let report = try await play(share, oddity.options, tokenInPath: oddity.tokenInPath)
            #expect(report.error == nil && report.offered.status == 201)
            #expect(report.patched == oddity.patched && report.deleted == 200)
            let sections = oddity.options.firstIndex(of: "--sections").map { oddity.options[$0 + 1] } ?? "video,audio"
            #expect(report.pictures >= (sections.contains("video") ? 30 : 0))
            #expect(report.soundPeak >= (sections.contains("audio") ? 0.01 : 0))
        }

        @Test("A player that takes no VP8, and one without the token, are told why")
        func refusals() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let noVP8 = try await play(share, ["--sections", "video", "--codec", "H264"])
            #expect(noVP8.offered.status == 406 && noVP8.problem?.detail.contains("VP8") == true)
            let stranger = try await play(share, ["--token", "not-this-share"])
            #expect(stranger.offered.status == 401 && stranger.problem?.status == 401)
            #expect(stranger.problem?.detail.isEmpty == false)
        }

        @Test("rtcshare view watches a link, and keeps what it saw")
        func viewOfALink() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let viewer = try share.view(["--record", "seen.webm", "--snapshot", "seen.png", "--duration", "3"])
            defer { viewer.stop() }
            let outcome = try await viewer.outcome(timeout: .seconds(60))
            #expect(
                outcome.status == 0 && outcome.standardError.contains("screen of alice"), "\(outcome.standardError)")
            try await share.wait(for: "nobody", until: \.isEmpty)
            try await expectRecording(in: folder, size: [640, 360], frames: 40)
        }

        /// What `view` kept: a film with VP8 of this size, at least so many frames, sound, and a picture.
        private func expectRecording(in folder: TemporaryFolder, size: [Int], frames: Int) async throws {
            let film = try await RecordedFilm.report("seen.webm", in: folder)
            let video = try #require(film.tracks.first { $0.kind == "video" })
            #expect(video.codec == "vp8" && video.sizes.first == size && video.frames >= frames, "\(video)")
            #expect(try await RecordedFilm.sound("seen.webm", in: folder).count > PulseDaemon.sampleRate / 4)
            #expect(try Data(contentsOf: folder.file("seen.png")).count > 500)
        }

        private func view(_ url: String, token: String, in folder: TemporaryFolder) async throws
            -> RunningProgram.Outcome
        {
            let environment = Interop.CommandLineTests.environment(folder).merging(["RTCSHARE_WHEP_TOKEN": token]) {
                $1
            }
            return try await Share(environment: environment, in: folder).run(
                ["view", url, "--record", "seen.webm", "--snapshot", "seen.png", "--duration", "3"])
        }

        @Test("rtcshare view watches another program's server, and tells it the end where the session is")
        func viewOfAnotherServer() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer("whep_server.py", ["--token", "open-sesame"], in: folder)
            defer { server.program.stop() }
            let outcome = try await view(server.url, token: "open-sesame", in: folder)
            #expect(outcome.status == 0, "\(outcome.standardError)")
            try await expectRecording(in: folder, size: [320, 240], frames: 40)
            let requests = server.requests()
            #expect(requests.first?.method == "POST" && requests.first?.path == "/live/whep")
            #expect(requests.last?.method == "DELETE" && requests.last?.path == "/live/sessions/1?of=alice")
            #expect(requests.allSatisfy { $0.authorization == "Bearer open-sesame" })
        }

        @Test("A server that leads to another origin does not have the token go there")
        func redirection() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer("whep_server.py", ["--redirect"], in: folder)
            defer { server.program.stop() }
            let outcome = try await view(server.url, token: "open-sesame", in: folder)
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let port = URL(string: server.url)?.port
            let requests = server.requests()
            #expect(requests.filter { $0.port == port }.map(\.authorization) == ["Bearer open-sesame"])
            let elsewhere = requests.filter { $0.port != port }
            #expect(elsewhere.contains { $0.method == "POST" } && elsewhere.contains { $0.method == "DELETE" })
            #expect(elsewhere.allSatisfy { $0.authorization == nil }, "\(elsewhere)")
        }

        @Test("What a server says of its refusal, a person reads")
        func refusalOfAnotherServer() async throws {
            let folder = try TemporaryFolder()
            let server = try await PeerServer("whep_server.py", ["--token", "open-sesame"], in: folder)
            defer { server.program.stop() }
            let outcome = try await view(server.url, token: "a-wrong-one", in: folder)
            #expect(outcome.status == 77, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("the door is closed today"), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("a-wrong-one"))
        }
    }
}
