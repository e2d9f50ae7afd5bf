import Foundation
import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCShareVideoCoding
import TestSupport
import Testing
import TestSupport

extension Interop {
    /// The window of `view`, on real displays.
    @Suite(.serialized, .timeLimit(.minutes(3)))
    struct ViewWindowTests {
        private static let onX11: ConditionTrait = .enabled(
            if: Peers.hasDisplayAndPython
                && (Peers.mustRun || ["openbox", "xdotool"].allSatisfy { RunningProgram.find($0) != nil }),
            "needs Xvfb, ImageMagick, openbox, xdotool and a Python with NumPy and Pillow (RTCSHARE_PYTHON)")

        private static let size = PixelSize(width: 640, height: 360)

        /// A film of one picture, of which `still.png` is what it shows.
        private func makeStillFilm(_ name: String, _ picture: PixelBuffer, in folder: TemporaryFolder) throws {
            let film = try Y4MWriter(
                path: folder.file("\(name).y4m").path, size: picture.size, framesPerSecond: 5)
            for _ in 0..<5 { try film.write(picture) }
            try film.close()
            try PNGWriter.write(picture, to: folder.file("\(name).png").path)
        }

        private func red(_ size: PixelSize) -> PixelBuffer {
            PixelBuffer(size: size, format: .i420) { planes, _ in
                for (plane, value) in zip(planes, [81, 90, 240] as [UInt8]) {
                    plane.initializeMemory(as: UInt8.self, repeating: value)
                }
            }
        }

        /// Runs `xdotool`, and returns what it says.
        @discardableResult
        private func act(_ display: XvfbDisplay, _ arguments: String..., in folder: TemporaryFolder) async throws
            -> String
        {
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("xdotool")), arguments, environment: display.environment, in: folder,
                timeout: .seconds(30))
            // Nothing found is an answer.
            #expect(outcome.status == 0 || arguments.first == "search", "xdotool: \(outcome.standardError)")
            return outcome.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Waits until the window's title is this.
        private func waitForTitle(
            _ title: String, on display: XvfbDisplay, of viewer: RunningProgram, in folder: TemporaryFolder
        ) async throws -> String {
            let deadline = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < deadline, viewer.isRunning {
                let name = "^" + NSRegularExpression.escapedPattern(for: title) + "$"
                let found = try await act(display, "search", "--onlyvisible", "--name", name, in: folder)
                if let id = found.split(separator: "\n").first { return String(id) }
            }
            throw RunningProgram.Failure.timedOut(waitingFor: title, standardError: viewer.standardError)
        }

        /// A picture of a window, or of a part of it.
        private func picture(
            of window: String, _ part: String? = nil, as name: String, on display: XvfbDisplay,
            in folder: TemporaryFolder
        ) async throws -> URL {
            let crop = part.map { ["-crop", $0, "+repage"] } ?? []
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("import")), ["-window", window] + crop + ["png24:\(name)"],
                environment: display.environment, in: folder, timeout: .seconds(30))
            try #require(outcome.status == 0, "import: \(outcome.standardError)")
            return folder.file(name)
        }

        private func crop(_ file: String, _ part: String, to name: String, in folder: TemporaryFolder) async throws
            -> URL
        {
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("convert")), [file, "-crop", part, "+repage", name], in: folder,
                timeout: .seconds(30))
            try #require(outcome.status == 0, "convert: \(outcome.standardError)")
            return folder.file(name)
        }

        @Test("The window shows what is shared and the attendee's own picture, and does what its keys say", Self.onX11)
        func window() async throws {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 1000, height: 700, in: folder)
            try await display.startWindowManager()
            try makeStillFilm("still", TestPattern.render(frame: 7, size: Self.size), in: folder)
            try makeStillFilm("face", red(PixelSize(width: 160, height: 120)), in: folder)
            let served = try await ServedShare(
                ["--camera", "file:face.y4m:loop", "--max-bitrate", "6000"], source: "file:still.y4m:loop", in: folder)
            defer { served.stop() }
            let viewer = try RunningProgram(
                served.share.rtcshare, ["view", served.link, "--stats", "stats.jsonl"],
                environment: display.environment.merging(["PULSE_SERVER": "unix:/nonexistent"]) { $1 }, in: folder)
            defer { viewer.stop() }
            let window = try await waitForTitle("alice - rtcshare", on: display, of: viewer, in: folder)
            try await viewer.wait(for: "what can't be played", timeout: .seconds(30)) {
                viewer.standardError.contains("Warning: no audio: no audio server answers")
            }

            // Beside the corner the picture is what is shared, pixel by pixel.
            let part = "640x240+0+0"
            let wanted = try await crop("still.png", part, to: "wanted.png", in: folder)
            var similarity = 0.0
            for attempt in 0..<20 where similarity < 0.97 {
                let seen = try await picture(of: window, part, as: "seen-\(attempt).png", on: display, in: folder)
                similarity = try await Peers.similarity(wanted, seen, in: folder)
            }
            #expect(similarity >= 0.97)
            let corner = try await picture(of: window, "1x1+550+300", as: "corner.png", on: display, in: folder)
            try await expectRed(corner, in: folder)

            // Keys. What they do is seen from outside.
            try await act(display, "windowfocus", "--sync", window, in: folder)
            func geometry() async throws -> String {
                try await act(display, "getwindowgeometry", "--shell", window, in: folder)
            }
            func wait(for words: String...) async throws {
                for _ in 0..<100 {
                    let now = try await geometry()
                    if words.allSatisfy(now.contains) { return }
                }
                Issue.record("the window is not \(words): \(try await geometry())")
            }
            try await act(display, "key", "f", in: folder)
            try await wait(for: "WIDTH=1000", "HEIGHT=700")
            try await act(display, "key", "1", in: folder)
            try await wait(for: "WIDTH=640", "HEIGHT=360")
            try await act(display, "windowsize", window, "800", "450", in: folder)
            try await wait(for: "WIDTH=800")
            try await act(display, "key", "s", in: folder)
            try await viewer.wait(for: "the picture's file", timeout: .seconds(20)) {
                viewer.standardError.contains("Saved the frame to rtcshare-")
            }
            let name = try #require(viewer.standardError.firstMatch(of: /Saved the frame to (rtcshare-[0-9-]+\.png)/))
                .output.1
            #expect(try await Peers.similarity(folder.file("still.png"), folder.file(String(name)), in: folder) > 0.97)
            try await act(display, "key", "m", in: folder)
            _ = try await waitForTitle("alice (muted) - rtcshare", on: display, of: viewer, in: folder)
            try await served.ask("pause")
            _ = try await waitForTitle("alice (paused, muted) - rtcshare", on: display, of: viewer, in: folder)
            try await served.ask("resume")
            _ = try await waitForTitle("alice (muted) - rtcshare", on: display, of: viewer, in: folder)
            try await act(display, "key", "q", in: folder)
            let outcome = try await viewer.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            try await served.wait(for: "nobody", until: \.isEmpty)
            try checkStatistics(of: folder.file("stats.jsonl"))
        }

        private func expectRed(_ file: URL, in folder: TemporaryFolder) async throws {
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("convert")),
                [file.path, "-format", "%[fx:r] %[fx:g] %[fx:b]", "info:"], in: folder, timeout: .seconds(30))
            let colour = outcome.standardOutput.split(separator: " ").compactMap { Double($0) }
            try #require(colour.count == 3, "convert: \(outcome.standardError)")
            #expect(colour[0] > 0.9 && colour[1] < 0.1 && colour[2] < 0.1, "\(colour)")
        }

        private func checkStatistics(of file: URL) throws {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let last = try #require(lines.last)
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [[String: Any]])
            let pictures = report.filter { ($0["framesRendered"] as? Int ?? 0) > 0 }
            #expect(pictures.count == 2)
            #expect(pictures.allSatisfy { ($0["totalRenderDelay"] as? Double ?? 0) > 0 })
            let transport = try #require(report.first { $0["type"] as? String == "transport" })
            let (whole, window) = (transport["processorTime"] as? Double, transport["windowProcessorTime"] as? Double)
            #expect(try #require(whole) > #require(window) && #require(window) > 0)
        }

        @Test(
            "A window that is closed ends the view with 0; without SDL 2 that is said, and the rest goes on", Self.onX11
        )
        func ends() async throws {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 1000, height: 700, in: folder)
            try await display.startWindowManager()
            let served = try await ServedShare(in: folder)
            defer { served.stop() }
            func view(_ options: [String] = [], environment: [String: String] = [:]) throws -> RunningProgram {
                try RunningProgram(
                    served.share.rtcshare, ["view", served.link] + options,
                    environment: display.environment.merging(environment) { $1 }, in: folder)
            }
            let viewer = try view()
            defer { viewer.stop() }
            let window = try await waitForTitle("alice - rtcshare", on: display, of: viewer, in: folder)
            // As a person does it, by the window manager. On a busy machine it sometimes misses the first keys.
            try await act(display, "windowactivate", "--sync", window, in: folder)
            for _ in 0..<10 where viewer.isRunning {
                try await act(display, "key", "--window", "0", "alt+F4", in: folder)
                for _ in 0..<200 where viewer.isRunning { try await Task.sleep(for: .milliseconds(10)) }
            }
            let outcome = try await viewer.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")

            // What can't be loaded stands before what can.
            let empty = folder.file("libraries")
            try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
            try Data().write(to: empty.appendingPathComponent("libSDL2-2.0.so.0"))
            let without = ["LD_LIBRARY_PATH": empty.path]
            let blind = try await view(["--duration", "1"], environment: without).outcome(timeout: .seconds(30))
            #expect(blind.status == 0, "\(blind.standardError)")
            #expect(blind.standardError.contains("Warning: can't open a window, because SDL 2 can't be used"))
            let demanding = try await view(["--window"], environment: without).outcome(timeout: .seconds(30))
            #expect(demanding.status == 69)
            #expect(demanding.standardError.contains("apt install libsdl2-2.0-0"))
            let nowhere = try await view(["--window"], environment: ["DISPLAY": ":12345"])
                .outcome(timeout: .seconds(30))
            #expect(nowhere.status == 69)
            #expect(nowhere.standardError.contains("can't open a window"), "\(nowhere.standardError)")
        }

        @Test("A window that another program destroys, and a display that ends, end the view in order", Self.onX11)
        func destroyed() async throws {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 1000, height: 700, in: folder)
            let served = try await ServedShare(in: folder)
            defer { served.stop() }
            func view() throws -> RunningProgram {
                try RunningProgram(
                    served.share.rtcshare, ["view", served.link, "--window"], environment: display.environment,
                    in: folder)
            }
            let viewer = try view()
            defer { viewer.stop() }
            let window = try await waitForTitle("alice - rtcshare", on: display, of: viewer, in: folder)
            try await act(display, "windowclose", window, in: folder)
            let closed = try await viewer.outcome(timeout: .seconds(20))
            #expect(closed.status == 0, "\(closed.standardError)")
            let second = try view()
            defer { second.stop() }
            _ = try await waitForTitle("alice - rtcshare", on: display, of: second, in: folder)
            display.end()
            let lost = try await second.outcome(timeout: .seconds(20))
            #expect(lost.status == 69, "\(lost)")
            #expect(lost.standardError.contains("the connection to the display is lost"), "\(lost.standardError)")
        }

        @Test("A flash is seen when its beep is heard", Self.onX11, SystemSoundTests.requirements)
        func lipSync() async throws {
            let folder = try TemporaryFolder()
            let daemon = try await PulseDaemon(sinks: ["content"], in: folder)
            let display = try await XvfbDisplay(width: 1000, height: 700, in: folder)
            try await display.startWindowManager()
            let share = try Share(
                environment: display.environment.merging(daemon.environment) { display, _ in display }, in: folder)
            try await share.offer(["--source", "test:640x360@30", "--audio", "beep"])
            let viewer = try await share.view(["--window"])
            defer { viewer.stop() }
            let sender = try share.send()
            defer { sender.stop() }
            let window = try await waitForTitle("alice - rtcshare", on: display, of: viewer, in: folder)
            let geometry = try await act(display, "getwindowgeometry", "--shell", window, in: folder)
            func number(_ name: String) throws -> Int {
                let line = geometry.split(separator: "\n").first { $0.hasPrefix("\(name)=") }
                return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) }, "\(geometry)")
            }
            // The pattern's lower right corner is white at the beginning of each second.
            let corner = PixelRectangle(
                x: try number("X") + 640 - 40, y: try number("Y") + 360 - 40, size: PixelSize(width: 32, height: 32))

            let screen = try DisplaySource(area: .region(corner), display: display.name, framesPerSecond: 60)
            let sound = try PulseSource(
                .system(sink: "content"), server: daemon.environment["PULSE_SERVER"])
            let (flashes, beeps) = (FlashWatch(), BeepWatch())
            screen.add(flashes)
            sound.add(beeps)
            try screen.start()
            try sound.start()
            defer {
                screen.stop()
                sound.stop()
            }
            try await viewer.wait(for: "six seconds of both", timeout: .seconds(60)) {
                flashes.times.count >= 6 && beeps.times.count >= 6
            }
            let (seen, heard) = (flashes.times, beeps.times)
            let offsets = seen.dropFirst(2).compactMap { flash in
                heard.map { ($0 - flash) / .milliseconds(1) }.min { abs($0) < abs($1) }
            }
            let median = offsets.sorted()[offsets.count / 2]
            // The pattern flashes at whole seconds of the clock that both are measured by.
            let delays = seen.map { $0 / .milliseconds(1) }.map { $0 - ($0 / 1000).rounded(.down) * 1000 }
            let delay = delays.sorted()[delays.count / 2]
            print("the beep is \(median) ms after the flash, which is on the screen \(delay) ms late")
            #expect(abs(median) <= 40, "\(offsets)")
        }
    }
}

/// Notes when a picture turns white.
private final class FlashWatch: VideoSink {
    private struct State {
        var wasWhite = true
        var times: [Duration] = []
    }

    private let state = Locked(State())

    var times: [Duration] { state.withLock { $0.times } }

    func receive(_ frame: VideoFrame) {
        let middle = frame.buffer.withPlanes { set in
            set.planes[0][frame.size.height / 2 * set.strides[0] + frame.size.width / 2 * 4]
        }
        state.withLock { state in
            if middle > 160, !state.wasWhite { state.times.append(frame.timestamp) }
            state.wasWhite = middle > 160
        }
    }
}

/// Notes when it becomes loud.
private final class BeepWatch: AudioSink {
    private struct State {
        var quietSince = Duration.zero
        var times: [Duration] = []
    }

    private let state = Locked(State())

    var times: [Duration] { state.withLock { $0.times } }

    func receive(_ frame: AudioFrame) {
        guard let first = frame.samples.firstIndex(where: { abs($0) > 0.05 }) else { return }
        let time = frame.timestamp + .seconds(Double(first / frame.channels) / Double(frame.sampleRate))
        state.withLock { state in
            if time - state.quietSince > .milliseconds(300) { state.times.append(time) }
            state.quietSince = time
        }
    }
}
