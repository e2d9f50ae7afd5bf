import Foundation
import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

extension Interop {
    /// A share that changes while a browser looks on, through the library.
    @Suite(.serialized)
    struct LiveChangeTests {
        static let chromium: ConditionTrait = .enabled(if: Peers.has(.chromium), "chromium is not installed")

        @Test("Bitrate, hint, source and size change while Chromium looks on", chromium)
        func sourceAndEncoding() async throws {
            let folder = try TemporaryFolder()
            let session = try await AttendeeSession.offering(as: AttendeeID("alice"))
            let first = try TestPatternSource(size: PixelSize(width: 1280, height: 720), framesPerSecond: 30)
            let second = try TestPatternSource(size: PixelSize(width: 1280, height: 720), framesPerSecond: 30)
            defer { for source in [first, second] { source.stop() } }
            for source in [first, second] { try source.start() }
            try await session.contentShare.start(
                source: first, parameters: VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(2500)))

            let watching = try await connect(session, seconds: 10, in: folder)
            defer { watching.stop() }
            try await Task.sleep(for: .seconds(3))
            try await session.contentShare.update(VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(1200)))
            try await Task.sleep(for: .seconds(1))
            first.contentHint = .motion
            try await Task.sleep(for: .seconds(1))
            try await session.contentShare.start(
                source: second, parameters: VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(1200)))
            try await Task.sleep(for: .seconds(2))
            try await session.contentShare.update(
                VideoEncodingParameters(
                    maxBitrate: .kilobitsPerSecond(1200), maxSize: PixelSize(width: 640, height: 360)))
            let outcome = try await watching.outcome(timeout: .seconds(120))
            await session.leave()
            try #require(outcome.status == 0, "\(outcome.standardError)")

            let video = try #require(try Viewer.chromium.report(in: folder).video(of: "alice#content"))
            #expect(video.sizes.map(\.width) == [1280, 640], "one change of size, and of nothing else")
            let longest = video.gaps.map(\.gapMs).max() ?? 0
            print("Chromium: longest pause over 200 ms during the changes: \(longest) ms (0: none)")
            // Each change is taken between two frames; an encoder or a source that began anew would take longer.
            #expect(longest < 500, "milliseconds without a frame")
        }

        @Test(
            "An attendee's own picture and voice join and leave a share that other programs look at",
            .enabled(if: Peers.hasBrowsersAndAiortc, "chromium, firefox-esr or a Python with aiortc is missing"))
        func cameraAndVoice() async throws {
            try await withThrowingTaskGroup { group in
                for viewer in [Viewer.chromium, .firefox, .aiortc] {
                    group.addTask { try await showCameraAndVoice(to: viewer) }
                }
                try await group.waitForAll()
            }
        }

        private func showCameraAndVoice(to viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let session = try await AttendeeSession.offering(as: AttendeeID("alice"))
            let screen = try TestPatternSource(size: PixelSize(width: 640, height: 360), framesPerSecond: 15)
            let face = try TestPatternSource(size: PixelSize(width: 320, height: 180), framesPerSecond: 15)
            let voice = try ToneSource(frequency: 880)
            defer {
                screen.stop()
                face.stop()
                voice.stop()
            }
            try screen.start()
            try face.start()
            try voice.start()
            try await session.contentShare.start(source: screen)
            let watching = try await connect(session, to: viewer, seconds: 16, in: folder)
            defer { watching.stop() }

            try await session.startCamera(source: face)
            try await session.startMicrophone(source: voice)
            try await negotiate(session, round: 2, in: folder)
            // The share has priority. Within aiortc's estimate, a large key frame delays the camera's next one.
            try await Task.sleep(for: .seconds(7))
            await session.stopCamera()
            try await negotiate(session, round: 3, in: folder)
            let outcome = try await watching.outcome(timeout: .seconds(120))
            await session.leave()
            try #require(outcome.status == 0, "\(viewer): \(outcome.standardError)")

            let report = try viewer.report(in: folder)
            #expect(report.negotiations?.count == 3, "\(viewer)")
            let camera = try #require(report.video(of: "alice"), "\(viewer)")
            #expect(camera.sizes.contains { $0.width == 320 } && camera.frames > 0, "\(viewer): \(camera.sizes)")
            #expect(report.video(of: "alice#content")?.frames ?? 0 > 0, "\(viewer)")
            // aiortc ends such a track.
            let end = viewer == .aiortc ? "ended" : "mute"
            #expect(camera.events.last?.event == end, "\(viewer): the stopped picture is told as such")
            // Firefox is judged by its pictures alone: see the page.
            guard viewer != .firefox else { return }
            #expect(abs((report.sound(of: "alice")?.peakFrequencyHz ?? 0) - 880) < 3, "\(viewer)")
        }

        @Test("ICE restarts while Chromium looks on, and again when the address in use is gone", chromium)
        func iceRestarts() async throws {
            let folder = try TemporaryFolder()
            var configuration = Connection.Configuration()
            configuration.restartTimeout = .seconds(30)
            let session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
            let screen = try TestPatternSource(size: PixelSize(width: 640, height: 360), framesPerSecond: 15)
            defer { screen.stop() }
            try screen.start()
            try await session.contentShare.start(source: screen)
            let watching = try await connect(session, seconds: 12, in: folder)
            defer { watching.stop() }
            try await Task.sleep(for: .seconds(2))

            await session.connection.restartICE()
            try await negotiate(session, round: 2, in: folder)
            try await Task.sleep(for: .seconds(2))
            func pairChanges() async -> UInt64 {
                await session.stats().transport?.selectedCandidatePairChanges ?? 0
            }
            let changes = await pairChanges()
            #expect(changes >= 2, "media went on over a pair of the new generation")

            // Unplugged: every address goes, and comes back with another port.
            let addresses = Set(await session.connection.localAddresses.map(\.ip))
            for address in addresses { await session.connection.removeLocalAddress(address) }
            for address in addresses { try await session.connection.addLocalAddress(address) }
            await session.connection.restartICE()
            try await negotiate(session, round: 3, in: folder)
            try await Task.sleep(for: .seconds(2))
            #expect(await pairChanges() > changes)
            let outcome = try await watching.outcome(timeout: .seconds(120))
            await session.leave()
            try #require(outcome.status == 0, "\(outcome.standardError)")

            let fragments = try ["answer.sdp", "answer-2.sdp", "answer-3.sdp"].map { name in
                let answer = try SessionDescription.parse(String(contentsOf: folder.file(name), encoding: .utf8))
                let section = try #require(answer.media.first)
                return try #require(try answer.iceAttributes(of: section)).usernameFragment
            }
            #expect(Set(fragments).count == 3, "the browser restarted each time")
            let report = try Viewer.chromium.report(in: folder)
            #expect(report.negotiations?.count == 3)
            let video = try #require(report.video(of: "alice#content"))
            #expect(video.frames > 60)
        }

        @Test("A turned picture stands upright in Chromium, which is told how it stands", chromium)
        func turnedInChromium() async throws {
            try await showTurned(to: .chromium)
        }

        @Test(
            "A turned picture stands upright in aiortc, which knows nothing of orientations",
            .enabled(if: Peers.has(.aiortc), "RTCSHARE_PYTHON has no aiortc"))
        func turnedInAiortc() async throws {
            try await showTurned(to: .aiortc)
        }

        /// Shows the test pattern lying on its left side, as a camera held upright takes it.
        private func showTurned(to viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let session = try await AttendeeSession.offering(as: AttendeeID("alice"))
            let pattern = try TestPatternSource(size: PixelSize(width: 640, height: 360), framesPerSecond: 15)
            let turned = TurnedSource(pattern)
            defer { pattern.stop() }
            try pattern.start()
            try await session.contentShare.start(source: turned)
            let watching = try await connect(session, to: viewer, seconds: 3, in: folder)
            defer { watching.stop() }
            let outcome = try await watching.outcome(timeout: .seconds(120))
            await session.leave()
            try #require(outcome.status == 0, "\(outcome.standardError)")
            let report = try viewer.report(in: folder)
            #expect(report.width == 360 && report.height == 640, "a quarter turn swaps the sides")
        }

        /// Has a viewer answer the session's offer; returns once the answer is taken.
        private func connect(
            _ session: AttendeeSession, to viewer: Viewer = .chromium, seconds: Int, in folder: TemporaryFolder
        ) async throws -> RunningProgram {
            let offer = try await session.connection.makeOffer()
            _ = try folder.write(offer.description, to: "offer.sdp")
            let watching = try viewer.start(duration: seconds, snapshotAt: "2.5", in: folder)
            try await take("answer.sdp", to: offer, session, in: folder)
            return watching
        }

        /// Makes a further offer, and takes its answer.
        private func negotiate(_ session: AttendeeSession, round: Int, in folder: TemporaryFolder) async throws {
            let offer = try await session.connection.makeOffer()
            // The viewer takes a file that is complete when it appears.
            let draft = try folder.write(offer.description, to: "draft-\(round)")
            try FileManager.default.moveItem(at: draft, to: folder.file("offer-\(round).sdp"))
            try await take("answer-\(round).sdp", to: offer, session, in: folder)
        }

        private func take(
            _ name: String, to offer: SessionDescription, _ session: AttendeeSession, in folder: TemporaryFolder
        ) async throws {
            let file = folder.file(name)
            let deadline = ContinuousClock.now + .seconds(120)
            while !FileManager.default.fileExists(atPath: file.path) {
                try #require(ContinuousClock.now < deadline, "the viewer wrote no \(name)")
                try await Task.sleep(for: .milliseconds(20))
            }
            let answer = try SessionDescription.parse(String(contentsOf: file, encoding: .utf8))
            try await session.connection.accept(answer: answer, to: offer)
        }
    }
}

/// Says of another source's pictures that they have to be turned by a quarter to stand upright.
private final class TurnedSource: BroadcastingVideoSource, VideoSink {
    let broadcaster = VideoBroadcaster()

    init(_ source: any VideoSource) {
        source.add(self)
    }

    func receive(_ frame: VideoFrame) {
        broadcaster.send(VideoFrame(buffer: frame.buffer, timestamp: frame.timestamp, rotation: .quarter))
    }
}
