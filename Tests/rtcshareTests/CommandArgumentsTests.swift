import ArgumentParser
import RTCShareCaptureBroadcast
import Testing

@testable import rtcshare

/// Former names of commands and options, and the errors of wrong values.
struct CommandArgumentsTests {
    @Test(
        "A former name is replaced by the current one",
        arguments: [
            ("source test", "switch test"),
            ("help source", "help switch"),
            ("broadcast --port 5000", "capture --port 5000"),
            ("serve --token-file a --janus u --room 5", "serve --link-token-file a --janus u --janus-room 5"),
            ("send --whip u --token-file=a", "send --whip u --whip-token-file=a"),
            ("view http://a.example/#b --token-file a", "view http://a.example/#b --whep-token-file a"),
            (
                "send --janus u --room 5 --pin-file a --secret-file b --janus-display c --room-bitrate 500",
                "send --janus u --janus-room 5 --janus-pin-file a --janus-secret-file b --janus-display c "
                    + "--janus-bitrate 500"
            ),
            ("view --janus u --room 5 --publisher a", "view --janus u --janus-room 5 --janus-publisher a"),
            ("sources --minimised", "sources --minimized"),
            ("unit broadcast --port 5000 --my-token-file a", "unit broadcast --port 5000 --my-token-file a"),
            ("switch source", "switch source"), ("kick -1 --name a", "kick --name a -- -1"),
            ("admit -1", "admit -- -1"),
            ("kick -- -1", "kick -- -1"),
        ])
    func formerNames(before: String, now: String) throws {
        let words = before.split(separator: " ").map(String.init)
        #expect(CommandArguments.prepared(words).joined(separator: " ") == now)
        if !["help", "kick", "switch"].contains(words.first) {
            #expect(throws: Never.self) { try RTCShareCommand.parsed(words) }
        }
    }

    @Test("A service unit of a former command runs the current one")
    func formerUnit() throws {
        let unit = try UnitCommand.unit(
            of: ["--environment-file", "e", "broadcast", "--port", "5000"], executable: "/usr/bin/rtcshare",
            folder: "/")
        #expect(unit.name == "rtcshare-capture" && unit.arguments == ["capture", "--port", "5000"])
    }

    @Test("admit takes the answer of an invited viewer, as it did before accept")
    func formerAdmit() throws {
        #expect(throws: Never.self) { try RTCShareCommand.parsed(["admit", "--viewer", "2", "answer.sdp"]) }
        #expect(throws: Never.self) { try RTCShareCommand.parsed(["admit", "-"]) }
        #expect(try Self.failure(["admit", "x"]).hasPrefix("rtcshare: x: use the number of a viewer"))
    }

    @Test("The tokens of a capture are read from variables with the current or a former name")
    func captureTokens() throws {
        for prefix in ["RTCSHARE", "RTCSHARE_BROADCAST"] {
            let names = ["\(prefix)_MY_TOKEN", "\(prefix)_PEER_TOKEN"]
            let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "a token of mine") })
            #expect(throws: Never.self) { try BroadcastTokens(environment: environment) }
        }
        let failure = try #require(throws: CommandFailure.self) { try BroadcastTokens(environment: [:]) }
        #expect(failure.status == .notPermitted && failure.remedy?.contains("--peer-token-file") == true)
    }

    private static func failure(_ words: [String]) throws -> String {
        let failure = try #require(throws: CommandFailure.self) { try RTCShareCommand.parsed(words) }
        #expect(failure.status == .usage && failure.remedy == "rtcshare help \(words[0])")
        return failure.lines(after: "rtcshare: ")[0]
    }

    @Test(
        "A wrong value is answered with the option, the value and what is allowed",
        arguments: [
            ("serve --duration -1", "--duration -1: use a number of seconds above 0, at most 31536000 (a year)."),
            (
                "view http://a.example/ --snapshot a.jpg",
                "--snapshot a.jpg: snapshots are PNG files. Use a name that ends in .png."
            ),
            ("demo --snapshot a", "--snapshot a: snapshots are PNG files. Use a name that ends in .png."),
            ("kick -1", "-1: use the number of a viewer, as rtcshare status lists it."),
            ("serve --public-url foo", "--public-url foo: use a URL such as https://share.example/office."),
            ("send --duration 0", "--duration 0: use a number of seconds above 0, at most 31536000 (a year)."),
            ("demo --duration 0", "--duration 0: use a number of seconds above 0, at most 3600."),
            ("demo --duration -.5", "--duration -.5: use a number of seconds above 0, at most 3600."),
            ("serve --size 1x1", "--size 1x1: use WIDTHxHEIGHT, both 16 to 16383, such as 1280x720."),
            ("send --size 1280", "--size 1280: use WIDTHxHEIGHT, both 16 to 16383, such as 1280x720."),
            ("set --size 1280x-5", "--size 1280x-5: use WIDTHxHEIGHT, both 16 to 16383, such as 1280x720."),
            ("serve --max-bitrate 5", "--max-bitrate 5: use 30 to 100000 kbit/s."),
            ("send --max-bitrate ten", "--max-bitrate ten: use 30 to 100000 kbit/s."),
            ("set --max-bitrate 5", "--max-bitrate 5: use 30 to 100000 kbit/s."),
            (
                "set --max-bitrate 99999999999999999999",
                "--max-bitrate 99999999999999999999: use 30 to 100000 kbit/s."
            ),
            ("serve --audio-bitrate 0", "--audio-bitrate 0: use 6 to 510 kbit/s."),
            ("set --max-framerate 1000", "--max-framerate 1000: use 0.1 to 240 frames per second."),
            ("capture --max-framerate nan", "--max-framerate nan: use 0.1 to 240 frames per second."),
            (
                "serve --listen abc",
                "--listen abc: use a port of 1 to 65535, 0 for any free port, or ADDRESS:PORT such as 127.0.0.1:8080."
            ),
            (
                "serve --listen 99999",
                "--listen 99999: use a port of 1 to 65535, 0 for any free port, or ADDRESS:PORT such as 127.0.0.1:8080."
            ),
            ("serve --port 70000", "--port 70000: use 1 to 65535, or 0 for any free port."),
            ("capture --port 0", "--port 0: use 1 to 65535."),
            ("serve --max-viewers 0", "--max-viewers 0: use 1 to 1000."),
            ("kick x", "x: use the number of a viewer, as rtcshare status lists it."),
            ("accept --viewer -1 a", "--viewer -1: use the number of a viewer, as rtcshare status lists it."),
            ("set --hint sharp", "--hint sharp: use auto, text, detail or motion."),
            ("completions tcsh", "tcsh: use bash, zsh or fish."),
            ("demo --size 8000x8000", "--size 8000x8000: use even sides from 128x96 to 7680x4320, such as 1280x720."),
            ("demo --size 10x10", "--size 10x10: use even sides from 128x96 to 7680x4320, such as 1280x720."),
            ("unit --restart never serve", "--restart never: use on-failure or always."),
            ("serve --ice-transport-policy none", "--ice-transport-policy none: use all or relay."),
        ])
    func wrongValues(line: String, words: String) throws {
        #expect(try Self.failure(line.split(separator: " ").map(String.init)) == "rtcshare: " + words)
    }

    @Test(
        "An unknown SPEC is answered with its option and the closest valid one",
        arguments: [
            ("--source tset", "--source tset: unknown source. Did you mean 'test'?"),
            ("--audio system --audio mic", "--audio mic: unknown audio. Did you mean 'microphone'?"),
            ("--microphone nothing", "--microphone nothing: unknown audio"),
            ("--audio speaker", "--audio speaker: unknown audio. Did you mean 'system'?"),
            ("--audio a.wav", "--audio a.wav: unknown audio. Did you mean 'file:a.wav'?"),
            ("--source screen", "--source screen: unknown source. Did you mean 'display'?"),
            ("--source desktop:HDMI-1", "--source desktop:HDMI-1: unknown source. Did you mean 'display:HDMI-1'?"),
            ("--source Slides", "--source Slides: unknown source. Did you mean 'window:title=Slides'?"),
            ("--source nofile.y4m", "--source nofile.y4m: unknown source. Did you mean 'file:nofile.y4m'?"),
            ("--source xyzzy", "--source xyzzy: unknown source"),
            ("--camera webcam", "--camera webcam: unknown source. Did you mean 'camera'?"),
            (
                "--source window:Slides",
                "--source window:Slides: 'Slides' is not a window number. Did you mean 'window:title=Slides'?"
            ),
            ("--source window:", "--source window:: the window's number is missing"),
            ("--source process:99999", "--source process:99999: '99999' is not a port from 1 to 65535"),
            ("--camera camer", "--camera camer: unknown source. Did you mean 'camera'?"),
            ("--source test:9999999x2", "--source test:9999999x2: its size is not between 128x96 and 7680x4320"),
        ])
    func wrongSpecifications(options: String, message: String) throws {
        let words = ["serve"] + options.split(separator: " ").map(String.init)
        let failure = try #require(throws: CommandFailure.self) { try RTCShareCommand.parsed(words, environment: [:]) }
        #expect(failure.status == .usage && failure.message == message && failure.remedy?.isEmpty == false)
    }
}
