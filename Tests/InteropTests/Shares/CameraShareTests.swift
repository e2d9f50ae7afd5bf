import Foundation
import RTCShareMedia
import Testing
import TestSupport
import VideoNode

@testable import RTCShareCapture

extension Interop {
    @Suite(
        "Cameras of PipeWire", .serialized, .timeLimit(.minutes(5)),
        .enabled(if: Peers.mustRun || WaylandDesktop.missing == nil, "needs PipeWire and GStreamer's part of it"))
    struct CameraShareTests {
        /// GStreamer's formats, each with the colour that its camera sees.
        private static let colours: [(format: String, colour: UInt32)] = [
            ("YUY2", 0xC0_3030), ("NV12", 0x30_C030), ("I420", 0x30_30C0), ("RGB", 0xC0_C030), ("BGRx", 0xC0_30C0),
            ("MJPEG", 0x30_C0C0),
        ]
        private static let size = PixelSize(width: 320, height: 240)

        private struct Listing: Decodable {
            struct Camera: Decodable, Equatable {
                struct Format: Decodable, Equatable {
                    let pixels: String
                    let width: Int
                    let height: Int
                    let frameRates: [Double]
                }

                let spec: String
                let light: Bool
                let formats: [Format]
            }

            let cameras: [Camera]
        }

        /// Waits until as many cameras are listed.
        @discardableResult
        private func cameras(_ count: Int, _ share: Share) async throws -> [Listing.Camera] {
            for _ in 0..<100 {
                let listed = try await share.run(["sources", "--json"])
                let cameras = try JSONDecoder().decode(Listing.self, from: Data(listed.standardOutput.utf8)).cameras
                if cameras.count == count { return cameras }
                try await Task.sleep(for: .milliseconds(100))
            }
            throw RunningProgram.Failure.timedOut(waitingFor: "\(count) cameras", standardError: "")
        }

        /// Gives white pictures for as long as somebody takes them.
        private func giveWhite(_ node: ScriptedNode) -> Task<Void, Never> {
            let white = [UInt8](repeating: 0xF0, count: Self.size.area * 3)
            return Task {
                while !Task.isCancelled {
                    node.give(white, stride: Self.size.width * 3)
                    try? await Task.sleep(for: .milliseconds(40))
                }
            }
        }

        @Test(
            "Chromium sees cameras of all formats one after the other, as the attendee's own picture, while connected")
        func chromium() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let share = try Share(environment: desktop.environment, in: folder)
            for (format, colour) in Self.colours {
                try desktop.startCamera(format.lowercased(), format, colour: colour)
            }
            let node = try ScriptedNode(
                "scripted", on: desktop, hasLight: true, [ScriptedNode.format(video_node_bgr, Self.size)])
            let giving = giveWhite(node)
            defer { giving.cancel() }
            let listed = try await cameras(Self.colours.count + 1, share)
            for (format, _) in Self.colours {
                let camera = try #require(listed.first { $0.spec == "camera:\(format.lowercased())" })
                #expect(
                    !camera.light
                        && camera.formats.contains(
                            .init(pixels: format, width: 320, height: 240, frameRates: [30])),
                    "\(camera)")
            }
            #expect(try #require(listed.first { $0.spec == "camera:scripted" }).light)
            let table = try await share.run(["sources"])
            #expect(table.standardOutput.contains("320x240, 30 a second, YUY2"), "\(table.standardOutput)")

            let options = ["--source", "test:320x180@5", "--camera", "camera:yuy2"]
            try await share.offer(options)
            let snapshots = (1...44).map { "\(Double($0) / 4)" }.joined(separator: ",")
            let watching = try Viewer.chromium.start(duration: 12, snapshotAt: snapshots, in: folder)
            defer { watching.stop() }
            try await watching.wait(for: "the answer", timeout: .seconds(120)) {
                FileManager.default.fileExists(atPath: share.answer.path)
            }
            let sending = try share.send(options)
            defer { sending.stop() }
            try await sending.wait(for: "a connection", timeout: .seconds(30)) {
                sending.standardError.contains("is connected.")
            }
            try await Task.sleep(for: .seconds(1.5))
            for (format, _) in Self.colours.dropFirst() {
                let changed = try await share.run(["camera", "camera:\(format.lowercased())"])
                #expect(changed.status == 0, "\(changed.standardError)")
                try await Task.sleep(for: .seconds(1))
            }
            let light = try await share.run(["camera", "--light"])
            #expect(light.status == 64 && light.standardError.contains("has no light"), "\(light.standardError)")
            #expect(try await share.run(["camera", "camera:scripted", "--light"]).status == 0)
            let missing = try await share.run(["camera", "camera:attic"])
            #expect(missing.status == 69 && missing.standardError.contains("no camera 'attic'"))
            let status = try await share.run(["status"])
            #expect(status.standardOutput.contains("camera:scripted, light on"), "\(status.standardOutput)")
            try await wait(for: "light") { node.light == 2 }

            let seen = try await watching.outcome(timeout: .seconds(60))
            try #require(seen.status == 0, "\(seen.standardError)\n\(sending.standardError)")
            let report = try Viewer.chromium.report(in: folder)
            let streams = report.tracks.filter { $0.kind == "video" }.map(\.streams)
            #expect(Set(streams) == [["alice#content"], ["alice"]])
            let colours = try await meanColours(in: folder)
            for (name, colour) in Self.colours.map({ ($0.format, $0.colour) }) + [("BGR", 0xF0_F0F0)] {
                #expect(colours.contains { Self.isNear($0, colour) }, "\(name) in \(colours)")
            }
        }

        /// The mean colours of the own picture in all snapshots, 0 to 255.
        private func meanColours(in folder: TemporaryFolder) async throws -> [[Double]] {
            let pictures = try FileManager.default.contentsOfDirectory(atPath: folder.file("chromium").path)
                .filter { $0.hasPrefix("video-1-frame-") }
            let means = try await RunningProgram.run(
                try #require(RunningProgram.find("identify")),
                ["-format", "%[fx:255*mean.r],%[fx:255*mean.g],%[fx:255*mean.b]\n"]
                    + pictures.map { folder.file("chromium/\($0)").path }, in: folder, timeout: .seconds(60))
            return means.standardOutput.split(separator: "\n").map {
                $0.split(separator: ",").compactMap { Double($0) }
            }
        }

        private static func isNear(_ mean: [Double], _ colour: UInt32) -> Bool {
            zip(mean, [colour >> 16, colour >> 8 & 255, colour & 255]).allSatisfy { abs($0 - Double($1)) < 16 }
        }

        @Test("A camera that goes is waited for by its name; one that is not there is told with those that are")
        func unplugged() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let share = try Share(environment: desktop.environment, in: folder)
            let none = try await share.run(["send", "--source", "camera"])
            #expect(none.status == 69 && none.standardError.contains("there is no camera"), "\(none.standardError)")
            let camera = try desktop.startCamera("front", "NV12")
            try await cameras(1, share)
            let other = try await share.run(["send", "--source", "camera:back"])
            #expect(other.status == 69 && other.standardError.contains("front (The_front)"), "\(other.standardError)")

            try await share.offer(["--source", "camera:the_f", "--camera", "camera"])
            let viewer = try await share.view()
            defer { viewer.stop() }
            let sender = try share.send()
            defer { sender.stop() }
            func said(_ words: String, by program: RunningProgram) async throws {
                try await program.wait(for: words, timeout: .seconds(30)) { program.standardError.contains(words) }
            }
            try await said("Video 2 is added", by: viewer)
            camera.stop()
            try await said("The video is paused: the camera 'The_front' gives nothing", by: sender)
            try await said("continues without your camera: the camera 'The_front' gives nothing", by: sender)
            let status = try await share.run(["status"])
            #expect(status.standardOutput.contains("camera (the camera 'The_front' gives"), "\(status.standardOutput)")
            _ = try desktop.startCamera("front", "NV12")
            try await said("The video continues.", by: sender)
            try await said("Your camera is back.", by: sender)
            #expect(try await share.run(["camera", "none"]).status == 0)
            try await viewer.wait(for: "the tile's end", timeout: .seconds(30)) {
                viewer.standardError.contains(/Video [12] is removed/)
            }
            sender.interrupt()
            #expect(try await sender.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("In a sandbox the desktop is asked: a no ends with 77 and a sentence, a yes gives the camera")
        func sandbox() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            var portal = try await ScriptedPortal(on: desktop, asPerson: true)
            var share = try Share(environment: desktop.environment, in: folder)
            _ = try desktop.startCamera("front", "YUY2")
            try await cameras(1, share)
            // PipeWire itself is out of reach.
            share.environment["PIPEWIRE_REMOTE"] = "nowhere"
            let sources = try await share.run(["sources"])
            #expect(
                sources.standardOutput.contains("if you allow it when the desktop asks"), "\(sources.standardOutput)")
            try portal.set(["AccessCamera": .uint32(1)])
            // A portal looks at who asks, which keeps its memory to itself.
            let send = ScriptedPortal.withoutPrivileges([share.rtcshare.path, "send", "--source", "camera"])
            let declined = try await RunningProgram.run(
                URL(fileURLWithPath: send[0]), Array(send.dropFirst()), environment: share.environment, in: folder,
                timeout: .seconds(30))
            #expect(
                declined.status == 77 && declined.standardError.contains("doesn't allow"),
                "\(declined.standardError)")
            try portal.leave()
            portal = try await ScriptedPortal(on: desktop)
            try await share.offer(["--source", "camera"])
            let viewer = try await share.view(["--duration", "1"])
            let sender = try share.send()
            defer { sender.stop() }
            let seen = try await viewer.outcome(timeout: .seconds(30))
            #expect(seen.status == 0 && seen.standardError.contains("320x240"), "\(sender.standardError)")
        }
    }
}
