import Foundation
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCShareSignaling
import TestSupport
import Testing

@testable import rtcshare

@Suite("The events of the sources", .timeLimit(.minutes(1)))
struct SourceStreamTests {
    /// An environment without a display and a sound server.
    private let nothing = ["PULSE_SERVER": "unix:/nonexistent/socket"]

    private func type(of bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != 0x0A }.dropFirst("event: ".utf8.count), as: UTF8.self)
    }

    private func data(of bytes: [UInt8]) throws -> [String: Any] {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && lines[2].isEmpty && lines[3].isEmpty)
        let object = try JSONSerialization.jsonObject(with: Data(lines[1].dropFirst("data: ".utf8.count).utf8))
        return try #require(object as? [String: Any])
    }

    private func image(_ side: Int) -> PixelBuffer {
        PixelBuffer(size: PixelSize(width: side, height: side), format: .bgra) { planes, _ in
            for index in planes[0].indices { planes[0][index] = 0x55 }
        }
    }

    @Test("Without a display, a camera and a sound server, the listings come with reasons")
    func listings() async throws {
        var found: [String: [String: Any]] = [:]
        for await bytes in try SourceStream(environment: nothing).start() {
            found[type(of: bytes)] = try data(of: bytes)
            if found.count == 3 { break }
        }
        #expect(Set(found.keys) == ["screens", "cameras", "audio"])
        let problems = try #require(found["screens"]?["problems"] as? [String: String])
        #expect(problems["displays"]?.contains("DISPLAY is not set") == true)
        #expect((found["audio"]?["problems"] as? [String: String])?["sounds"] != nil)
        #expect((found["audio"]?["sounds"] as? [Any])?.isEmpty == true)
    }

    @Test("On a Wayland desktop without X programs, the screens are those of its portal")
    func wayland() async throws {
        let environment = nothing.merging(["WAYLAND_DISPLAY": "wayland-9"]) { $1 }
        for await bytes in try SourceStream(environment: environment).start() where type(of: bytes) == "screens" {
            let problems = try data(of: bytes)["problems"] as? [String: String]
            #expect(problems?["windows"] == "the desktop shares its screens and windows through its portal")
            break
        }
        await #expect(throws: SpecificationError.self) {
            _ = try await SourceStream.image(of: "display", environment: environment)
        }
    }

    @Test(
        "A microphone that can't be opened is a problem with its SPEC, and the listings come", arguments: [true, false])
    func microphone(isNamed: Bool) async throws {
        let stream = try SourceStream(microphone: isNamed ? "microphone:desk" : "microphone", environment: nothing)
        for await bytes in stream.start() where type(of: bytes) == "problem" {
            let problem = try data(of: bytes)
            #expect(problem["spec"] as? String == (isNamed ? "microphone:desk" : "microphone"))
            #expect((problem["reason"] as? String)?.isEmpty == false)
            break
        }
    }

    @Test("A cancelled reader gets the end")
    func cancellation() async throws {
        let stream = try SourceStream(environment: nothing).start()
        let task = Task {
            for await _ in stream {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test("A closed stream counts until its threads have ended, which a display that does not answer delays")
    @SharingActor func limit() async throws {
        let responder = ControlResponder { _ in .done(notice: nil) }
        let servers = try (0..<4).map { _ in try SilentServer() }
        for server in servers {
            let environment = nothing.merging(["DISPLAY": server.display]) { $1 }
            let stream = try responder.stream(
                of: SourceStream(microphone: "microphone", environment: environment))
            await waitUntil { server.isReached }
            withExtendedLifetime(stream) {}
        }
        let another = try SourceStream(environment: nothing)
        #expect(throws: ProblemDetails.self) { try responder.stream(of: another) }
        for server in servers { server.end() }
        while (try? responder.stream(of: another)) == nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test(
        "Invalid parameters are rejected",
        arguments: [
            ("79", nil, nil), ("641", nil, nil), ("", nil, nil), ("99999999999999999999", nil, nil),
            (nil, "tone", nil), (nil, "file:/etc/passwd", nil), (nil, "none", nil), (nil, "", nil),
            (nil, nil, "display"), (nil, nil, "file:-"), (nil, nil, "camera:"),
        ] as [(String?, String?, String?)])
    func invalid(width: String?, microphone: String?, camera: String?) {
        #expect(throws: SpecificationError.self) {
            try SourceStream(width: width, microphone: microphone, camera: camera, environment: nothing)
        }
    }

    @Test(
        "Only parts of the screen have an image, of a limited width",
        arguments: [
            ("window:1", nil), ("test", nil), ("camera", nil), ("file:/etc/passwd", nil), ("display", "1921"),
            ("display", "0"), ("nothing", nil),
        ] as [(String, String?)])
    func invalidImage(spec: String, width: String?) async {
        await #expect(throws: SpecificationError.self) {
            _ = try await SourceStream.image(of: spec, width: width, environment: nothing)
        }
    }

    @Test("A slow reader gets the newest event of each source, and no equal listing twice")
    func slowReader() async throws {
        let events = SourceEvents()
        // Before the thread starts, nothing is encoded.
        events.send(.level("microphone", -20))
        events.send(.image("window:0x1", image(2)))
        events.send(.level("microphone", -30))
        events.send(.image("window:0x1", image(4)))
        events.send(.image("window:0x2", image(2)))
        events.start()
        let level = try data(of: try #require(await events.read()))
        #expect(level["spec"] as? String == "microphone" && level["peak"] as? Double == -30)
        let first = try data(of: try #require(await events.read()))
        #expect(first["spec"] as? String == "window:0x1")
        let image = try #require(first["image"] as? String)
        #expect(image.hasPrefix("data:image/png;base64,"))
        let file = try #require(Data(base64Encoded: String(image.dropFirst("data:image/png;base64,".count))))
        // The width in the header.
        #expect(Array(file[16..<20]) == [0, 0, 0, 4])
        #expect(try data(of: try #require(await events.read()))["spec"] as? String == "window:0x2")
        events.send(.sounds(SoundListing(.success([]))))
        #expect(type(of: try #require(await events.read())) == "audio")
        events.send(.sounds(SoundListing(.success([]))))
        events.send(.level("microphone", -10))
        #expect(type(of: try #require(await events.read())) == "level")
        events.end()
        #expect(await events.read() == nil)
    }

    @Test("A SPEC with quotation marks and line ends stays in its event")
    func escaping() throws {
        let spec = "camera:a\"b\n\ndata: c"
        let bytes = try #require(SourceEvents.encode(.image(spec, image(2))))
        #expect(try data(of: bytes)["spec"] as? String == spec)
    }

    @Test("What was opened ends once, also if the events have ended before")
    func endings() async {
        let ended = Locked<[Int]>([])
        let events = SourceEvents()
        events.atEnd { ended.withLock { $0.append(1) } }
        events.end()
        events.end()
        events.atEnd { ended.withLock { $0.append(2) } }
        while ended.withLock({ $0.count }) < 2, (try? await Task.sleep(for: .milliseconds(1))) != nil {}
        #expect(ended.withLock { $0.sorted() } == [1, 2])
    }
}

@Suite("The peak meter")
struct PeakMeterTests {
    /// Returns the levels for blocks of 20 ms, each of one value.
    private func levels(_ values: [Float]) -> [Double] {
        let levels = Locked<[Double]>([])
        let meter = PeakMeter { level in levels.withLock { $0.append(level) } }
        for (number, value) in values.enumerated() {
            meter.receive(
                AudioFrame(
                    samples: [0, value, 0] + Array(repeating: 0, count: 957), channels: 1, sampleRate: 48000,
                    timestamp: .milliseconds(number * 20)))
        }
        return levels.withLock { $0 }
    }

    @Test("The level is the highest of a tenth of a second, in decibels of full scale")
    func peak() {
        #expect(levels([0, 0, -0.5, 0, 0]) == [-6.0])
        #expect(levels([0, 0, 0, 1, 0]) == [0])
        #expect(levels([0.1, 0.1, 0.1, 0.1]) == [])
    }

    @Test("A level comes again when it has changed by a decibel")
    func changes() {
        let steady = Array(repeating: Float(0.5), count: 50)
        #expect(levels(steady) == [-6.0])
        #expect(levels(steady + Array(repeating: 0.48, count: 50)) == [-6.0])
        #expect(levels(steady + Array(repeating: 0.25, count: 50)) == [-6.0, -12.0])
    }

    @Test("Silence and values that are not finite have a level")
    func extremes() {
        #expect(levels(Array(repeating: 0, count: 10)) == [PeakMeter.floor])
        #expect(levels(Array(repeating: .infinity, count: 5)) == [0])
        #expect(levels(Array(repeating: .nan, count: 5)) == [PeakMeter.floor])
        #expect(levels(Array(repeating: 1e-30, count: 5)) == [PeakMeter.floor])
    }

    @Test("A muted source has no level")
    func mute() {
        let levels = Locked<[Double]>([])
        let meter = PeakMeter { level in levels.withLock { $0.append(level) } }
        meter.receive(
            AudioFrame(
                samples: Array(repeating: 0.5, count: 4800), channels: 1, sampleRate: 48000, timestamp: .zero))
        meter.muteDidChange(true)
        #expect(levels.withLock { $0 } == [-6.0, PeakMeter.floor])
    }
}
