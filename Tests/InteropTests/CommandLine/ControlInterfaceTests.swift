import Foundation
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSignaling
import RTCShareStreams
import TestSupport
import Testing

@testable import rtcshare

extension Interop {
    /// The control interface as programs of others use it.
    @Suite struct ControlInterfaceTests {
        private static let file = Peers.repository.appendingPathComponent("Sources/CControlAPI/openapi.json")

        private static func description() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        }

        private static func schema(_ name: String) throws -> [String: Any] {
            let components = try #require(try description()["components"] as? [String: Any])
            return try #require((components["schemas"] as? [String: Any])?[name] as? [String: Any])
        }

        @Test("The description has the routes that the share has")
        func routes() throws {
            let paths = try #require(try Self.description()["paths"] as? [String: [String: Any]])
            let described = paths.flatMap { path, operations in
                operations.compactMap { method, operation in
                    ((operation as? [String: Any])?["operationId"] as? String).map {
                        "\(method.uppercased()) \(path) \($0)"
                    }
                }
            }
            let routed = ControlRoute.all.map { "\($0.method) \($0.path) \($0.operation)" }
            #expect(described.sorted() == routed.sorted())
        }

        @Test("The description has the members that a share, its viewers and a change have")
        func members() throws {
            func members(_ value: some Encodable) throws -> Set<String> {
                let object = try JSONSerialization.jsonObject(with: Data(ControlJSON.encode(value)))
                return Set(try #require(object as? [String: Any]).keys)
            }
            func described(_ schema: [String: Any]) -> Set<String> {
                Set((schema["properties"] as? [String: Any] ?? [:]).keys)
            }
            let sound = ControlledShare.Sound(spec: "tone")
            let viewer = ControlledShare.Viewer(
                id: 1, state: .disconnected, isWaiting: true, groups: [], address: "", browser: "", since: Date(),
                codec: "", bitrate: 1, fractionLost: 0, roundTripTime: 1, path: .relayed, trouble: .stuck,
                troubleFigure: 1)
            let layer = ControlledShare.Layer(rid: "f", width: 1, height: 1, pauseReason: .bitrate)
            let place = ControlledShare.Server(
                id: 1, kind: "whip", name: "", state: .failed, since: Date(), count: 1, failure: "",
                nextAttempt: Date(), codec: "", bitrate: 1, fractionLost: 0, roundTripTime: 1, path: .direct,
                layers: [layer])
            let codec = ControlledShare.Codec(name: "", reason: .processor, alternative: "", retryIn: 1)
            let message = ControlledShare.Message(id: 1, time: Date(), text: "", remedy: "")
            let sample = ShareHistory.Sample(
                time: Date(), bitrate: 1, framesPerSecond: 1, roundTripTime: 1, fractionLost: 1, viewers: 1)
            let share = ControlledShare(
                name: "", pid: 1, attendee: "", state: .sharing, source: "", interruption: "",
                camera: .init(spec: "", interruption: "", isLightOn: true), sounds: [sound], microphone: sound,
                width: 1, height: 1, framesPerSecond: 1, bitrate: 1, qualityLimitationReason: .cpu, maxBitrate: 1,
                maxFramerate: 1, codec: codec, maxWidth: 1, maxHeight: 1, hint: .text, isSlateShown: true,
                isAudioMuted: true, isMicrophoneMuted: true,
                destination: "", subgroups: [], isLocked: true, needsApproval: true,
                recording: .init(file: "", seconds: 1), viewers: [viewer], servers: [place],
                messages: [message], uptime: 1)
            #expect(described(try Self.schema("Share")) == (try members(share)))
            let properties = try #require(try Self.schema("Share")["properties"] as? [String: [String: Any]])
            #expect(described(try #require(properties["codec"])) == (try members(codec)))
            #expect(described(try Self.schema("Viewer")) == (try members(viewer)))
            #expect(described(try Self.schema("Server")) == (try members(place)))
            let layers = try Self.schema("Layer")
            #expect(described(layers) == (try members(layer)))
            let reasons = (layers["properties"] as? [String: [String: Any]])?["pauseReason"]?["enum"] as? [String]
            #expect(reasons == SendingSummary.PauseReason.allCases.map(\.rawValue))
            #expect(described(try Self.schema("Message")) == (try members(message)))
            let history = try Self.schema("History")
            #expect(described(history) == (try members(ControlHistory(samples: [sample]))))
            let samples = (history["properties"] as? [String: [String: Any]])?["samples"]?["items"] as? [String: Any]
            #expect(described(try #require(samples)) == (try members(sample)))
            let link = ControlLinks.Place(url: "", reach: .network)
            #expect(described(try Self.schema("Links")) == (try members(ControlLinks([link]))))
            let change = ShareChange(
                isPaused: true, isSlateShown: true, source: "", camera: .init(), maxBitrate: .value(1), maxFramerate: 1,
                maxWidth: 1, maxHeight: 1, hint: .value(.text), isAudioMuted: true, isMicrophoneMuted: true,
                isMuted: true, destination: "",
                isLocked: true, needsApproval: true, isRecording: true)
            let changes = try #require(try Self.schema("ShareChange")["oneOf"] as? [[String: Any]])
            #expect(changes.map(described).reduce(into: []) { $0.formUnion($1) } == (try members(change)))
        }

        @Test("The description has the members that null makes automatic")
        func automaticMembers() throws {
            func takesNull(_ schema: [String: Any]) -> Bool {
                (schema["type"] as? [String])?.contains("null") == true || schema["type"] as? String == "null"
                    || (schema["oneOf"] as? [[String: Any]])?.contains(where: takesNull) == true
            }
            let changes = try #require(try Self.schema("ShareChange")["oneOf"] as? [[String: Any]])
            for (member, schema) in changes.flatMap({ $0["properties"] as? [String: [String: Any]] ?? [:] }) {
                let body = Array("{\"\(member)\":null}".utf8)
                let request = try? ControlJSON.decode(ShareChange.self, from: body).request
                #expect((request != nil) == takesNull(schema), "\(member): \(String(describing: request))")
            }
        }

        @Test("The description has the values that members have")
        func values() throws {
            func check<Value: CaseIterable & RawRepresentable>(
                _ type: Value.Type, _ member: [String: Any]?
            ) throws where Value.RawValue == String {
                let described = try #require(member?["enum"] as? [String], "\(type)")
                #expect(described.sorted() == type.allCases.map(\.rawValue).sorted(), "\(type)")
            }
            func properties(_ schema: [String: Any]?) -> [String: [String: Any]] {
                schema?["properties"] as? [String: [String: Any]] ?? [:]
            }
            let share = properties(try Self.schema("Share"))
            try check(ControlledShare.State.self, share["state"])
            try check(CodecDecision.Reason.self, properties(share["codec"])["reason"])
            try check(ViewerTroubles.Trouble.self, properties(try Self.schema("Viewer"))["trouble"])
            try check(SharingOptions.Hint.self, try Self.schema("Hint"))
        }

        @Test(
            "The requests of the guide work, and the share serves its description",
            .enabled(if: Peers.hasCommandLine, "rtcshare is not built"),
            .enabled(if: Peers.mustRun || RunningProgram.find("curl") != nil, "curl is not installed"))
        func requestsOfTheGuide() async throws {
            let guide = Peers.repository.appendingPathComponent("Sources/RTCShare/RTCShare.docc/Guide/ControlAShare.md")
            let lines = try String(contentsOf: guide, encoding: .utf8).split(separator: "\n")
            let requests = lines.filter { $0.hasPrefix("curl ") }.map(String.init)
            try #require(requests.count == 3)
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let socket = folder.file("run/rtcshare/share.sock").path
            // The events do not end by themselves.
            let commands =
                requests.map { $0.contains("/events") ? "\($0) | head -n 2" : $0 }
                + ["curl --unix-socket \(socket) http://localhost/v1/openapi.json"]
            var answers: [String] = []
            for command in commands {
                let outcome = try await RunningProgram.run(
                    try #require(RunningProgram.find("bash")), ["-c", command], environment: share.share.environment,
                    in: folder, timeout: .seconds(30))
                #expect(outcome.status == 0, "\(command): \(outcome.standardError)")
                answers.append(outcome.standardOutput)
            }
            #expect(answers[0].hasPrefix(#"{"attendee":"alice""#), "\(answers[0])")
            #expect(answers[1].hasPrefix(#"{"notice":"The share is paused"#), "\(answers[1])")
            #expect(answers[2].hasPrefix("event: share\ndata: {"), "\(answers[2])")
            #expect(Data(answers[3].utf8) == (try Data(contentsOf: Self.file)))
            #expect(try await share.status().state == .paused)
        }

        @Test(
            "schemathesis finds no request whose response differs from the description",
            .enabled(if: Peers.hasCommandLine, "rtcshare is not built"),
            .enabled(if: Peers.hasSchemathesis, "no Python with schemathesis"))
        func schemathesis() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let outcome = try await RunningProgram.run(
                try #require(Peers.python),
                [Peers.script("control_client.py"), folder.file("run/rtcshare/share.sock").path], in: folder,
                timeout: .seconds(180))
            #expect(outcome.status == 0, "\(outcome.standardOutput)\n\(outcome.standardError)")
            #expect(try await share.ask("stop") == "The share has stopped.\n")
        }
    }
}
