import RTCShareCapture
import RTCShareCaptureBroadcast
import RTCShareContentShare
import RTCShareMedia
import Testing

@testable import rtcshare

@Suite struct SourceSpecificationTests {
    @Test(
        "Each form of SPEC is parsed and written unchanged",
        arguments: [
            (
                "test:1280x720",
                SourceSpecification.test(size: PixelSize(width: 1280, height: 720), framesPerSecond: nil)
            ),
            ("test:640x480@15", .test(size: PixelSize(width: 640, height: 480), framesPerSecond: 15)),
            ("test:640x480@29.97", .test(size: PixelSize(width: 640, height: 480), framesPerSecond: 29.97)),
            ("display", .display(output: nil)),
            ("display:HDMI-1", .display(output: "HDMI-1")),
            ("portal:monitor", .portal(.monitor)),
            ("portal:window", .portal(.window)),
            ("portal:any", .portal(.any)),
            ("camera", .camera(name: nil)),
            ("camera:Front: 1", .camera(name: "Front: 1")),
            ("region:640x480+10+20", .region(PixelRectangle(x: 10, y: 20, size: PixelSize(width: 640, height: 480)))),
            ("window:0x1400007", .window(.id(0x140_0007))),
            ("window:0xffffffff", .window(.id(.max))),
            ("window:title=Editor", .window(.title("Editor"))),
            ("window:title=a: b=c ", .window(.title("a: b=c "))),
            ("file:a.y4m", .file(path: "a.y4m", loop: false)),
            ("file:/tmp/a:b.y4m", .file(path: "/tmp/a:b.y4m", loop: false)),
            ("file:a.y4m:loop", .file(path: "a.y4m", loop: true)),
            ("file:-", .standardInput),
            ("process:5000", .broadcast(.port(5000))),
            ("process:/run/user/1000/app.sock", .broadcast(.path("/run/user/1000/app.sock"))),
            ("process:./app.sock", .broadcast(.path("./app.sock"))),
        ])
    func forms(text: String, expected: SourceSpecification) throws {
        #expect(try SourceSpecification(text) == expected)
        #expect(expected.description == text)
    }

    @Test("A window's number can be decimal")
    func decimal() throws {
        #expect(try SourceSpecification("window:20971527") == .window(.id(0x140_0007)))
        #expect(try SourceSpecification("window:0X1A") == .window(.id(26)))
    }

    @Test("A portal without a kind requests a screen or a window")
    func barePortal() throws {
        #expect(try SourceSpecification("portal") == .portal(.any))
        #expect(throws: SpecificationError.self) { try SourceSpecification("portal:screen") }
    }

    @Test("A test pattern without a size is 1280x720")
    func bareTest() throws {
        #expect(
            try SourceSpecification("test")
                == .test(size: PixelSize(width: 1280, height: 720), framesPerSecond: nil))
    }

    @Test(
        "An invalid SPEC is an error with the reason and a valid form",
        arguments: [
            "", "tset", ":", "test:", "test:640", "test:640x", "test:640x480@", "test:640x480@0", "test:640x480@nan",
            "test:640x480@-3", "test:640x480@inf", "test:641x480", "test:16x16", "test:99999x99999",
            "test:640x480x30", "test:999999999999999999999x2", "display:", "region", "region:640x480",
            "region:640x480+10", "region:640x480-10-10", "region:640x480+10+20+30", "region:1x1+0+0",
            "region:0x0+0+0", "file", "file:", "file::loop", "file:-:loop", "Test", "dísplay",
            "window", "window:", "window:x", "window:0x", "window:-1", "window:+1", "window:0x+1", "window:4294967296",
            "window:title", "window:title=", "window:Title=x", "window:12 ", "process", "process:", "process:0",
            "process:65536", "process:-1", "process:name",
        ])
    func faults(text: String) {
        do throws(SpecificationError) {
            _ = try SourceSpecification(text)
            Issue.record("'\(text)' was taken")
        } catch {
            guard case .invalidSpecification(let named, let problem, let remedy) = error else {
                Issue.record("'\(text)' gave \(error)")
                return
            }
            #expect(named == text)
            #expect(!problem.isEmpty)
            #expect(!remedy.isEmpty)
        }
    }

    @Test("A SPEC with the former name of process is read")
    func formerName() throws {
        #expect(try SourceSpecification("broadcast:5000") == .broadcast(.port(5000)))
        #expect(try AudioSpecification("broadcast") == .broadcast)
    }

    @Test("A camera without a name is the first")
    func camera() {
        #expect(throws: SpecificationError.self) { try SourceSpecification("camera:") }
    }

    @Test("Without a SPEC, the display is shared if DISPLAY is set, or else the test pattern, with a message")
    func preferred() {
        let display = SourceSpecification.preferred(environment: ["DISPLAY": ":7"])
        #expect(display.specification == .display(output: nil))
        #expect(display.sentence?.contains(":7") == true)
        for environment in [[:], ["DISPLAY": ""]] {
            let pattern = SourceSpecification.preferred(environment: environment)
            #expect(pattern.specification == .test(size: PixelSize(width: 1280, height: 720), framesPerSecond: nil))
            #expect(pattern.sentence?.contains("no display was found") == true)
        }
        // A display that does not answer next to a Wayland desktop is not XWayland, so a person named it.
        let desktop = SourceSpecification.preferred(environment: ["WAYLAND_DISPLAY": "wayland-1"])
        #expect(
            desktop.specification == .display(output: nil)
                && desktop.sentence?.contains("the screen that you chose") == true)
        let named = SourceSpecification.preferred(environment: ["WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":64321"])
        #expect(named.specification == .display(output: nil) && named.sentence?.contains(":64321") == true)
        #expect(throws: SpecificationError.self) {
            try SourceSpecification("display:HDMI-1").open(environment: ["WAYLAND_DISPLAY": "wayland-1"])
        }
    }

    @Test("A missing display is an error with its name and a remedy")
    func missingDisplay() throws {
        for environment in [[:], ["DISPLAY": ":64321"], ["DISPLAY": "nonsense"]] {
            do {
                _ = try SourceSpecification("display").open(environment: environment)
                Issue.record("a display was found")
            } catch {
                let failure = CommandFailure(explaining: error)
                #expect(failure.remedy?.contains("Xvfb") == true)
                #expect(failure.message.contains(environment["DISPLAY"] ?? "DISPLAY is not set"))
            }
        }
    }

    @Test("A source that can't be captured is an error with the SPEC or the option of one that can")
    func remedies() {
        let window = WindowSpecification.id(0x1F)
        for (error, words) in [
            (CaptureError.displayUnavailable(display: nil, reason: "DISPLAY is not set"), "or use --source test"),
            (.unknownOutput(name: "left", outputs: []), "with --source display"),
            (.unsharableWindow(window, reason: "it is small", remedy: .chooseListedWindow), "rtcshare sources"),
            (.unsharableWindow(window, reason: "none", remedy: .shareDisplayOrRegion), "--source display or region"),
            (.ambiguousWindow(window, windows: []), "as window:ID"),
            (.unknownSoundDevice(name: nil, kind: .source, devices: []), "or use file:PATH.wav or tone"),
            (.monitorIsNotMicrophone(name: "room.monitor", sink: "room"), "use system:room for that"),
            (.monitorIsNotMicrophone(name: "room.monitor", sink: nil), "use system for that"),
            (.unrepeatableFile(path: "a.y4m"), "use file:a.y4m"),
        ] {
            #expect(CommandFailure(explaining: error).remedy?.contains(words) == true)
            #expect(!error.description.contains(words))
        }
    }

    @Test("A missing file is an error that names it")
    func missingFile() {
        #expect(throws: CaptureError.fileUnavailable(path: "/nowhere/x.y4m", errorNumber: 2)) {
            try SourceSpecification("file:/nowhere/x.y4m").open(environment: [:])
        }
        #expect(throws: CaptureError.fileUnavailable(path: "/", errorNumber: 21)) {
            try SourceSpecification("file:/").open(environment: [:])
        }
    }

    @Test("A test pattern opens with its own rate or the requested one")
    func opened() throws {
        let own = try SourceSpecification("test:320x240@12").open(environment: [:], framesPerSecond: 5)
        #expect(own.captureFormat.framesPerSecond == 12)
        let asked = try SourceSpecification("test:320x240").open(environment: [:], framesPerSecond: 5)
        #expect(asked.captureFormat == CaptureFormat(size: PixelSize(width: 320, height: 240), framesPerSecond: 5))
        #expect(throws: CaptureError.self) {
            try SourceSpecification("test").open(environment: [:], framesPerSecond: 0)
        }
    }

    @Test("No source shares audio unless it is requested", arguments: ["test", "display", nil])
    func soundOnRequest(source: String?) throws {
        let selection = SourceSelection(source: try source.map { try SourceSpecification($0) }, audio: [])
        #expect(selection.media == [.content])
        #expect(selection.soundLines(remedy: "REMEDY").first?.hasPrefix("Audio: none.") == true)
    }
}
