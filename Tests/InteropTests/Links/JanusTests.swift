import Foundation
import RTCShareContentShare
import RTCSharePeerConnection
import RTCShareSignaling
import RTCShareVideoCoding
import TestSupport
import Testing

@testable import rtcshare

extension Interop {
    /// `send --janus` and `view --janus`, with Debian's Janus.
    @Suite(.serialized, .enabled(if: Peers.mustRun || JanusServer.missing == nil, "needs janus"))
    struct JanusTests {
        private static let room = JanusServer.Room(
            id: 1234,
            settings: [
                "secret = \"adminpwd\"", "publishers = 6", "bitrate = 0", "fir_freq = 10", "pin = \"open sesame\"",
            ])
        private static let secret = "a-secret-of-the-api"

        private static func environment(_ folder: TemporaryFolder) -> [String: String] {
            // Proxies of this machine's user are none of the test's.
            Interop.CommandLineTests.environment(folder).merging([
                "XDG_RUNTIME_DIR": folder.file("run").path, "http_proxy": "http://127.0.0.1:9", "RTCSHARE_LOG": "debug",
            ]) { $1 }
        }

        private static func secret(_ text: String, _ name: String, in folder: TemporaryFolder) throws -> String {
            let file = try folder.write("\(text)\n", to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            return file.path
        }

        private func status(_ share: Share) async throws -> ControlledShare {
            let outcome = try await share.run(["status", "--json"], timeout: .seconds(30))
            try #require(outcome.status == 0, "\(outcome.standardError)")
            return try ControlJSON.decode(ControlledShare.self, from: outcome.standardOutput.utf8)
        }

        private func waitUntilPublished(_ count: Int, by sending: RunningProgram) async throws {
            try await sending.wait(for: "\(count) publications", timeout: .seconds(40)) {
                sending.standardError.components(separatedBy: "is published to ").count > count
            }
        }

        /// Has a viewer of other people's see a publisher, for `seconds`.
        private func watch(
            _ display: String, in room: JanusServer.Room = room, layer: Int? = nil, by viewer: Viewer,
            for seconds: Int, at server: JanusServer
        ) async throws -> ViewerReport {
            let folder = try TemporaryFolder()
            let subscriber = try await server.subscribe(
                to: display, in: room.id, pin: "open sesame", layer: layer, viewing: folder)
            defer { subscriber.stop() }
            let program = try viewer.start(duration: seconds, snapshotAt: "2.5", in: folder)
            defer { program.stop() }
            let outcome = try await program.outcome(timeout: .seconds(120))
            try #require(outcome.status == 0, "\(viewer): \(outcome.standardError)")
            return try viewer.report(in: folder)
        }

        @Test("Screen and camera are two publishers, whom Chromium, Firefox, aiortc and rtcshare view through the room")
        func published() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([Self.room], secret: Self.secret, in: folder)
            let room = [
                "--janus", server.url, "--janus-room", "\(Self.room.id)",
                "--janus-pin-file", try Self.secret("open sesame", "pin", in: folder),
                "--janus-secret-file", try Self.secret(Self.secret, "secret", in: folder),
            ]
            let share = try Share(environment: Self.environment(folder), in: folder)
            let media = [
                "--source", "test:640x480@30", "--audio", "beep", "--camera", "test:320x240@15", "--microphone", "tone",
            ]
            let sending = try share.start(["send", "--attendee", "alice"] + media + room)
            defer { sending.stop() }
            try await waitUntilPublished(2, by: sending)
            let places = try await status(share).servers
            #expect(places.map(\.kind) == ["janus", "janus"] && places.allSatisfy { $0.state == .published })
            let other = try share.start(["send", "--attendee", "bob", "--name", "bob"] + media + room)
            defer { other.stop() }
            try await waitUntilPublished(2, by: other)
            let names = Set(try await server.publishers(in: Self.room.id).keys)
            #expect(names == ["alice", "alice#content", "bob", "bob#content"])

            for (viewer, display, width) in [
                (Viewer.chromium, "alice#content", 640), (.firefox, "bob", 320), (.aiortc, "bob#content", 640),
            ] where Peers.has(viewer) {
                let report = try await watch(display, by: viewer, for: 4, at: server)
                let video = try #require(report.videos?.first, "\(viewer)")
                #expect(video.frames > 30 && video.width == width, "\(viewer): \(video.frames) of \(video.width)")
                // Firefox is judged by its pictures alone: see the page.
                guard viewer != .firefox else { continue }
                #expect(report.sounds?.contains { $0.rmsDbfs > -60 } == true, "\(viewer) hears nothing")
            }
            let viewing = try share.start(
                [
                    "view", "--no-window", "--janus-publisher", "alice", "--janus-publisher", "alice#content",
                    "--duration", "2", "--record", "seen.webm",
                ]
                    + room)
            defer { viewing.stop() }
            let viewed = try await viewing.outcome(timeout: .seconds(60))
            #expect(viewed.status == 0, "\(viewed.standardError)")
            let samples = try await RecordedFilm.sound("seen.webm", in: folder)
            #expect(samples.contains { abs($0) > 0.01 }, "no audio from the room")
            #expect(viewed.standardError.contains("screen of alice, 640x480"), "\(viewed.standardError)")
            #expect(viewed.standardError.contains("camera of alice, 320x240"), "\(viewed.standardError)")

            sending.interrupt()
            let outcome = try await sending.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(Set(try await server.publishers(in: Self.room.id).keys) == ["bob", "bob#content"])
            for text in [outcome.standardError, outcome.standardOutput, viewed.standardError] {
                #expect(!text.contains("open sesame") && !text.contains(Self.secret), "\(text)")
            }
        }

        @Test(
            "A room of one codec is sent it, and its viewers see it",
            .enabled(
                if: [VideoCodec.av1, .h264].allSatisfy { $0.unavailability() == nil },
                "libaom3, libdav1d6 or libopenh264-7 is not installed"),
            .timeLimit(.minutes(5)),
            arguments: [(VideoCodec.av1, [Viewer.chromium, .firefox]), (.h264, [.chromium, .aiortc])])
        func codecOfRoom(codec: VideoCodec, viewers: [Viewer]) async throws {
            let folder = try TemporaryFolder()
            var room = Self.room
            room.settings.append("videocodec = \"\(codec.name.lowercased())\"")
            let server = try await JanusServer([room], in: folder)
            let options = [
                "--janus", server.url, "--janus-room", "\(room.id)",
                "--janus-pin-file", try Self.secret("open sesame", "pin", in: folder),
            ]
            let share = try Share(environment: Self.environment(folder), in: folder)
            let sending = try share.start(
                ["send", "--attendee", "alice", "--source", "test:640x480@30"] + options)
            defer { sending.stop() }
            try await waitUntilPublished(1, by: sending)
            for viewer in viewers where Peers.has(viewer) {
                let report = try await watch("alice#content", in: room, by: viewer, for: 4, at: server)
                let video = try #require(report.videos?.first, "\(viewer)")
                #expect(video.frames > 5 && video.width == 640, "\(viewer): \(video.frames) of \(video.width)")
            }
            let viewing = try share.start(
                ["view", "--no-window", "--janus-publisher", "alice#content", "--duration", "2"] + options)
            defer { viewing.stop() }
            let viewed = try await viewing.outcome(timeout: .seconds(60))
            #expect(viewed.status == 0 && viewed.standardError.contains("screen of alice, 640x480"), "\(viewed)")
            await waitUntil { (try? await status(share).servers.first?.codec) == codec.name }
        }

        @Test(
            "A room forwards to each viewer the layer that it asks for, also after a restart of the room",
            .enabled(if: Peers.has(.chromium), "no chromium"), .timeLimit(.minutes(5)))
        func layers() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([Self.room], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            // The layers of motion differ in their sizes.
            let sending = try share.start([
                "send", "--janus", server.url, "--janus-room", "\(Self.room.id)", "--janus-pin-file",
                try Self.secret("open sesame", "pin", in: folder), "--attendee", "alice", "--layers", "3", "--hint",
                "motion", "--source", "test:1280x720@30", "--audio", "none",
            ])
            defer { sending.stop() }
            try await waitUntilPublished(1, by: sending)
            for (layer, width) in [(2, 1280), (1, 640), (0, 320)] {
                let report = try await watch("alice#content", layer: layer, by: .chromium, for: 5, at: server)
                #expect(report.videos?.first?.width == width, "layer \(layer)")
            }
            server.kill()
            try await server.startAgain()
            try await sending.wait(for: "the share's return", timeout: .seconds(60)) {
                sending.standardError.contains("as alice#content again.")
            }
            let report = try await watch("alice#content", layer: 0, by: .chromium, for: 5, at: server)
            #expect(report.videos?.first?.width == 320)
        }

        @Test("A Janus that is killed and started again gets the share and its viewer again", arguments: [false, true])
        func startedAgain(overWebSocket: Bool) async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([Self.room], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let sending = try share.start([
                "send", "--janus", overWebSocket ? server.webSocketURL : server.url, "--janus-room", "\(Self.room.id)",
                "--janus-pin-file", try Self.secret("open sesame", "pin", in: folder), "--source", "test:320x240@30",
                "--attendee", "alice",
            ])
            defer { sending.stop() }
            try await waitUntilPublished(1, by: sending)
            let viewer = try share.start([
                "view", "--janus", overWebSocket ? server.webSocketURL : server.url, "--janus-room", "\(Self.room.id)",
                "--janus-pin-file", try Self.secret("open sesame", "pin", in: folder), "--janus-publisher",
                "alice#content",
                "--no-window",
            ])
            defer { viewer.stop() }
            try await viewer.wait(for: "a picture", timeout: .seconds(30)) {
                viewer.standardError.contains("Video 1 is added")
            }
            server.kill()
            try await sending.wait(for: "the news", timeout: .seconds(30)) {
                sending.standardError.contains("does not answer. Waiting for it")
                    || sending.standardError.contains("the server closed the connection")
            }
            try await server.startAgain()
            try await sending.wait(for: "the share's return", timeout: .seconds(60)) {
                sending.standardError.contains("as alice#content again.")
            }
            #expect(Array(try await server.publishers(in: Self.room.id).keys) == ["alice#content"])
            try await viewer.wait(for: "the picture's return", timeout: .seconds(60)) {
                viewer.standardError.components(separatedBy: "Video 1 is added").count == 3
            }
            viewer.interrupt()
            #expect(try await viewer.outcome(timeout: .seconds(20)).status == 0)
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("A share that is published again after its connection was lost is seen again")
        func publishedAgain() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([JanusServer.Room(id: 5)], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let options = ["--janus", server.webSocketURL, "--janus-room", "5"]
            func publish() async throws -> RunningProgram {
                let program = try share.start(
                    ["send", "--source", "test:320x240@30", "--attendee", "alice", "--no-control"] + options)
                try await waitUntilPublished(1, by: program)
                return program
            }
            let first = try await publish()
            defer { first.stop() }
            let viewer = try share.start(["view", "--janus-publisher", "alice#content", "--no-window"] + options)
            defer { viewer.stop() }
            try await viewer.wait(for: "a picture", timeout: .seconds(30)) {
                viewer.standardError.contains("Video 1 is added")
            }
            let second = try await publish()
            defer { second.stop() }
            // Its WebSocket ends, and with that its session.
            Foundation.kill(first.processIdentifier, SIGKILL)
            try await viewer.wait(for: "the picture's return", timeout: .seconds(60)) {
                viewer.standardError.components(separatedBy: "Video 1 is added").count == 3
            }
            second.interrupt()
            #expect(try await second.outcome(timeout: .seconds(20)).status == 0)
            // Nobody publishes any more.
            #expect(try await viewer.outcome(timeout: .seconds(30)).status == 0, "\(viewer.standardError)")
            #expect(viewer.standardError.contains("The presenter ended the connection."))
        }

        @Test("Twenty subscribers see one share, whom few key frames are enough for")
        func manySubscribers() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer(
                [JanusServer.Room(id: 5, settings: ["publishers = 2", "fir_freq = 10"])], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let statistics = folder.file("stats.jsonl")
            let sending = try share.start([
                "send", "--janus", server.url, "--janus-room", "5", "--source", "test:320x240@30", "--attendee",
                "alice",
                "--stats", statistics.path,
            ])
            defer { sending.stop() }
            try await waitUntilPublished(1, by: sending)
            var players: [JanusPlayer] = []
            for index in 0..<20 {
                let player = try await JanusPlayer(
                    url: index.isMultiple(of: 2) ? server.url : server.webSocketURL, room: .number(5),
                    publishers: ["alice#content"], as: AttendeeID("viewer"))
                try await player.start()
                players.append(player)
            }
            func frames() async -> [Int] {
                var frames: [Int] = []
                for player in players {
                    let streams = await player.session.stats().inboundRTP.values
                    frames.append(streams.compactMap { $0.video?.framesReceived }.max() ?? 0)
                }
                return frames
            }
            var seen = await frames()
            let deadline = ContinuousClock.now + .seconds(60)
            while seen.contains(where: { $0 < 60 }), ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(200))
                seen = await frames()
            }
            #expect(seen.allSatisfy { $0 >= 60 }, "\(seen)")
            for player in players { await player.leave() }
            sending.interrupt()
            #expect(try await sending.outcome(timeout: .seconds(20)).status == 0)
            let text = String(decoding: try Data(contentsOf: statistics), as: UTF8.self)
            let keyFrames = text.matches(of: /"keyFramesEncoded":([0-9]+)/).compactMap { Int($0.1) }.max()
            let requests = text.matches(of: /"pliCount":([0-9]+)/).compactMap { Int($0.1) }.max()
            // Each that joins has the server ask.
            #expect(try #require(requests) >= 20)
            print("\(keyFrames ?? 0) key frames for \(requests ?? 0) requests")
            #expect(try #require(keyFrames) <= requests.map { $0 / 2 } ?? 0)
        }

        @Test("What a room takes at most is said, and kept to; what is asked for is taken")
        func limited() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([JanusServer.Room(id: 5, settings: ["bitrate = 300000"])], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            func rates(_ options: [String]) async throws -> (said: String, rates: [Double]) {
                let statistics = folder.file("stats-\(options.count).jsonl")
                let sending = try share.start(
                    [
                        "send", "--janus", server.url, "--janus-room", "5", "--source", "test:1280x720@30", "--audio",
                        "none",
                    ]
                        + ["--stats", statistics.path, "--duration", "8"] + options)
                defer { sending.stop() }
                let outcome = try await sending.outcome(timeout: .seconds(60))
                #expect(outcome.status == 0, "\(outcome.standardError)")
                let text = String(decoding: try Data(contentsOf: statistics), as: UTF8.self)
                let rates = text.matches(of: /"availableOutgoingBitrate":([0-9.]+)/).compactMap { Double($0.1) }
                return (outcome.standardError, rates)
            }
            let bounded = try await rates([])
            #expect(bounded.said.contains("takes at most 300 kbit/s of each publisher. --janus-bitrate asks for more"))
            // It climbs to the bound in steps, and stays there.
            #expect(
                bounded.rates.allSatisfy { $0 <= 300_000 } && bounded.rates.suffix(4).allSatisfy { $0 > 200_000 },
                "\(bounded.rates)")
            let asked = try await rates(["--janus-bitrate", "1200"])
            #expect(!asked.said.contains("of each publisher"))
            #expect(asked.rates.allSatisfy { $0 <= 1_200_000 } && (asked.rates.last ?? 0) > 600_000, "\(asked.rates)")
        }

        @Test("What a server or a room refuses a person reads, and the status says what kind it is")
        func refused() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([Self.room], secret: Self.secret, in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let secret = ["--janus-secret-file", try Self.secret(Self.secret, "secret", in: folder)]
            let wrongPin = ["--janus-pin-file", try Self.secret("another", "wrong", in: folder)]
            let cases: [(options: [String], status: Int32, words: [String])] = [
                (["--janus", server.url, "--janus-room", "1234"], 77, ["the server refuses", "--janus-secret-file"]),
                (
                    ["--janus", server.url, "--janus-room", "99"] + secret, 69,
                    ["No such room (99)", "check --janus-room"]
                ),
                (["--janus", server.url, "--janus-room", "1234"] + secret, 77, ["(pin)", "--janus-pin-file"]),
                (
                    ["--janus", server.webSocketURL, "--janus-room", "1234"] + secret + wrongPin, 77,
                    ["check the room's PIN"]
                ),
                (
                    ["--janus", server.webSocketURL, "--janus-room", "demo"] + secret, 69,
                    ["Invalid element type", "check --janus-room"]
                ),
                (
                    ["--janus", server.url.replacing("/janus", with: "/elsewhere"), "--janus-room", "1"], 76,
                    ["is not Janus", "8088/janus"]
                ),
                (["--janus", "http://127.0.0.1:9", "--janus-room", "1"], 69, ["can't reach http://127.0.0.1:9"]),
                (["--janus", "ws://127.0.0.1:9", "--janus-room", "1"], 69, ["can't reach ws://127.0.0.1:9"]),
                (
                    ["--janus", server.webSocketURL.replacing("ws:", with: "wss:"), "--janus-room", "1"], 69,
                    ["does not use TLS"]
                ),
                (["--janus", "ftp://127.0.0.1/janus", "--janus-room", "1"], 64, ["not the URL of a Janus"]),
                (["--janus", server.url], 64, ["--janus needs --janus-room"]),
                (["--janus-room", "1"], 64, ["--janus-room needs --janus"]),
            ]
            for (options, status, words) in cases {
                let outcome = try await share.run(["send", "--source", "test:320x240@30"] + options)
                #expect(outcome.status == status, "\(options): \(outcome.standardError)")
                for word in words {
                    #expect(outcome.standardError.contains(word), "\(word): \(outcome.standardError)")
                }
                #expect(!outcome.standardError.contains("Trying again"), "\(outcome.standardError)")
            }
        }

        @Test("Who is taken out of a room stays away; a full room and one that is ended are tried again")
        func unwelcome() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer(
                [JanusServer.Room(id: 5, settings: ["secret = \"adminpwd\"", "publishers = 1"])], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let options = ["--janus", server.url, "--janus-room", "5", "--source", "test:320x240@30"]
            let first = try share.start(["send", "--attendee", "alice"] + options)
            defer { first.stop() }
            try await waitUntilPublished(1, by: first)
            let second = try share.start(["send", "--attendee", "carl", "--name", "carl"] + options)
            defer { second.stop() }
            try await second.wait(for: "the refusal", timeout: .seconds(20)) {
                second.standardError.contains("Maximum number of publishers")
                    && second.standardError.contains("Trying again in")
            }
            let id = try #require(try await server.publishers(in: 5)["alice#content"])
            _ = try await server.ask(["request": "kick", "room": 5, "secret": "adminpwd", "id": id])
            let kicked = try await first.outcome(timeout: .seconds(20))
            #expect(kicked.status == 77 && kicked.standardError.contains("you were removed from the room"))
            try await waitUntilPublished(1, by: second)
            let viewing = try share.start(
                [
                    "view", "--no-window", "--janus", server.url, "--janus-room", "5", "--janus-publisher",
                    "carl#content",
                ])
            defer { viewing.stop() }
            try await viewing.wait(for: "the picture", timeout: .seconds(30)) {
                viewing.standardError.contains("screen of carl")
            }
            _ = try await server.ask(["request": "destroy", "room": 5, "secret": "adminpwd"])
            try await second.wait(for: "the news", timeout: .seconds(20)) {
                second.standardError.contains("the room was ended. Trying again in")
            }
            _ = try await viewing.outcome(timeout: .seconds(20))
            second.interrupt()
            #expect(try await second.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("Who views names somebody who publishes, and hears who does where nobody of the name is there")
        func nobodyThere() async throws {
            let folder = try TemporaryFolder()
            let server = try await JanusServer([JanusServer.Room(id: 5)], in: folder)
            let share = try Share(environment: Self.environment(folder), in: folder)
            let view = [
                "view", "--no-window", "--janus", server.webSocketURL, "--janus-room", "5", "--janus-publisher", "bob",
            ]
            let alone = try await share.run(view)
            #expect(alone.status == 69 && alone.standardError.contains("Nobody does"), "\(alone.standardError)")
            let sending = try share.start(
                [
                    "send", "--attendee", "alice", "--janus", server.url, "--janus-room", "5", "--source",
                    "test:320x240@30",
                ])
            defer { sending.stop() }
            try await waitUntilPublished(1, by: sending)
            let others = try await share.run(view)
            #expect(others.status == 69 && others.standardError.contains("Its publishers are:\n  alice#content"))
        }
    }
}
