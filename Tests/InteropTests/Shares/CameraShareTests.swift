import Foundation
import RTCShareCapture
import RTCShareMedia
import Testing

extension Interop {
    @Suite(
        "Cameras of PipeWire", .serialized, .timeLimit(.minutes(5)),
        .enabled(if: Peers.mustRun || WaylandDesktop.missing == nil, "needs PipeWire and GStreamer's part of it"))
    struct CameraShareTests {
        private static let formats = ["YUY2", "NV12", "I420", "RGB", "BGRx", "MJPEG"]

        private struct Listing: Decodable {
            struct Camera: Decodable {
                let spec: String
                let formats: [String]
            }

            let cameras: [Camera]
        }

        /// Waits until as many cameras are listed.
        private func cameras(_ count: Int, _ share: Share) async throws -> [Listing.Camera] {
            for _ in 0..<100 {
                let listed = try await share.run(["sources", "--json"])
                let cameras = try JSONDecoder().decode(Listing.self, from: Data(listed.standardOutput.utf8)).cameras
                if cameras.count == count { return cameras }
                try await Task.sleep(for: .milliseconds(100))
            }
            throw RunningProgram.Failure.timedOut(waitingFor: "\(count) cameras", standardError: "")
        }

        @Test("A camera of each format is listed with it, and is seen at its size, all in the same colours")
        func formats() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let share = try Share(environment: desktop.environment, in: folder)
            for format in Self.formats { _ = try desktop.startCamera(format.lowercased(), format) }
            let listed = try await cameras(Self.formats.count, share)
            for format in Self.formats {
                let camera = try #require(listed.first { $0.spec == "camera:\(format.lowercased())" })
                #expect(camera.formats.contains { $0.hasPrefix("640x480, 30 a second") && $0.hasSuffix(format) })
                try await share.offer(["--source", camera.spec])
                let viewer = try await share.view(["--snapshot", "\(format).png", "--duration", "1"])
                let sender = try share.send()
                let seen = try await viewer.outcome(timeout: .seconds(30))
                sender.interrupt()
                let sent = try await sender.outcome(timeout: .seconds(20))
                #expect(seen.standardError.contains("640x480"), "\(sent.standardError)")
                let similarity = try await Peers.similarity(
                    folder.file("YUY2.png"), folder.file("\(format).png"), in: folder)
                // The corner of noise, and what no RGB has, differ.
                #expect(similarity > 0.85, "\(format)")
            }
        }

        @Test("Chromium sees a camera as motion, at its rate, as the attendee's own picture")
        func chromium() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let share = try Share(environment: desktop.environment, in: folder)
            _ = try desktop.startCamera("front", "YUY2")
            _ = try await cameras(1, share)
            let seen = try await share.show(
                to: .chromium, seconds: 4, source: ["--source", "test", "--camera", "camera"])
            let streams = seen.report.tracks.filter { $0.kind == "video" }.map(\.streams)
            #expect(Set(streams) == [["alice#content"], ["alice"]])
        }

        @Test("A camera that goes ends the share with its name; one that is not there is told with those that are")
        func ends() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let share = try Share(environment: desktop.environment, in: folder)
            let none = try await share.run(["send", "--source", "camera"])
            #expect(none.status == 64 && none.standardError.contains("there is no camera"), "\(none.standardError)")
            let camera = try desktop.startCamera("front", "NV12")
            _ = try await cameras(1, share)
            let other = try await share.run(["send", "--source", "camera:back"])
            #expect(other.status == 64 && other.standardError.contains("front (The_front)"), "\(other.standardError)")

            try await share.offer(["--source", "camera:the_f"])
            let viewer = try await share.view()
            defer { viewer.stop() }
            let sender = try share.send()
            try await viewer.wait(for: "a picture", timeout: .seconds(30)) {
                viewer.standardError.contains("640x480")
            }
            camera.stop()
            let outcome = try await sender.outcome(timeout: .seconds(30))
            #expect(outcome.status == 69 && outcome.standardError.contains("The_front"), "\(outcome.standardError)")
        }
    }
}
