internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareMedia

/// The source to share, as users write it after `--source`.
///
/// | SPEC | source |
/// | --- | --- |
/// | `test`, `test:WxH`, `test:WxH@FPS` | the test pattern, by default of 1280x720 |
/// | `display`, `display:OUTPUT` | the screen of `$DISPLAY`, or one output; on Wayland, that of `portal:monitor` |
/// | `portal`, `portal:monitor`, `portal:window` | the user's choice when a Wayland desktop asks |
/// | `region:WxH+X+Y` | a rectangle of that screen |
/// | `window:ID`, `window:title=TEXT` | one window, by its number (decimal or 0x…), or by its title or a part of it |
/// | `camera`, `camera:NAME` | the first camera, or one by its name or a part of it |
/// | `file:PATH`, `file:PATH:loop` | a y4m file at its own rate, once or repeatedly |
/// | `file:-` | y4m on standard input, each frame sent as it arrives |
/// | `process:PORT`, `process:PATH` | video of `rtcshare capture`, at this loopback port or a socket at this path |
enum SourceSpecification: Specification {
    /// The test pattern; with a rate of nil it has that of ``open(environment:framesPerSecond:)``.
    case test(size: PixelSize, framesPerSecond: Double?)
    /// The screen, or one output of it.
    case display(output: String?)
    /// The user's choice on a Wayland desktop.
    case portal(ScreenCastPortal.Kind)
    /// A rectangle of the screen.
    case region(PixelRectangle)
    /// A camera; nil is the first.
    case camera(name: String?)
    /// One window.
    case window(WindowSpecification)
    /// A y4m file.
    case file(path: String, loop: Bool)
    /// y4m on standard input.
    case standardInput
    /// The video that another process captures.
    case broadcast(BroadcastEndpoint)

    /// The words with which a SPEC begins.
    private static let kinds = ["test", "display", "portal", "region", "window", "camera", "file", "process"]
    /// The words that users try for a source with another name.
    private static let synonyms = [
        "cam": "camera", "desktop": "display", "fullscreen": "display", "monitor": "display", "output": "display",
        "pattern": "test", "screen": "display", "stdin": "file:-", "-": "file:-", "wayland": "portal",
        "webcam": "camera",
    ]
    private static let formsRemedy = "rtcshare help sources"
    private static let defaultTestSize = PixelSize(width: 1280, height: 720)

    /// Parses a SPEC.
    init(_ text: String) throws(SpecificationError) {
        let kind = String(text.prefix { $0 != ":" })
        let argument = text.dropFirst(kind.count).isEmpty ? nil : String(text.dropFirst(kind.count + 1))
        switch kind {
        case "test":
            self = try Self.test(argument, in: text)
        case "display":
            guard argument != "" else {
                throw .invalidSpecification(
                    text: text, problem: "the name of the output is missing",
                    remedy: "display:OUTPUT, or display for the whole screen")
            }
            self = .display(output: argument)
        case "portal":
            guard let kind = ScreenCastPortal.Kind(rawValue: argument ?? ScreenCastPortal.Kind.any.rawValue) else {
                throw .invalidSpecification(
                    text: text, problem: "a portal has no '\(argument ?? "")'",
                    remedy: "portal:monitor, portal:window, or portal for either")
            }
            self = .portal(kind)
        case "region":
            self = .region(try Self.rectangle(argument ?? "", in: text))
        case "file":
            self = try Self.file(argument ?? "", in: text)
        case "window":
            self = .window(try Self.window(argument ?? "", in: text))
        // Its name before `capture` existed.
        case "process", "broadcast":
            self = .broadcast(try Self.endpoint(argument ?? "", in: text))
        case "camera":
            guard argument != "" else {
                throw .invalidSpecification(
                    text: text, problem: "the name of the camera is missing",
                    remedy: "camera:NAME, or camera for the first")
            }
            self = .camera(name: argument)
        default:
            throw .unknown("source", in: text, meant: Self.meant(by: text), remedy: Self.formsRemedy)
        }
    }

    /// Returns the SPEC that was probably meant by an invalid text: with a misspelled kind, or without a kind.
    static func meant(by text: String) -> String? {
        let kind = String(text.prefix { $0 != ":" })
        if let meant = synonyms[kind.lowercased()] ?? Suggestion.nearest(to: kind, among: kinds) {
            return meant + text.dropFirst(kind.count)
        }
        if text.lowercased().hasPrefix("title=") { return "window:title=" + text.dropFirst(6) }
        if text.lowercased().hasSuffix(".y4m") { return "file:\(text)" }
        // Titles of windows begin with a capital letter or have several words, unlike everything else.
        return text.contains { $0.isUppercase || $0 == " " } ? "window:title=\(text)" : nil
    }

    /// Returns the source without `--source`, the display if there is one, otherwise the test pattern, with a sentence
    /// about it.
    static func preferred(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> (specification: SourceSpecification, sentence: String?) {
        if DesktopSession(environment: environment).isWayland {
            return (.display(output: nil), "Source: the screen that you chose. \(chooseSource)")
        }
        if let display = environment["DISPLAY"], !display.isEmpty {
            return (.display(output: nil), "Source: display \(display). \(chooseSource)")
        }
        return (
            .test(size: defaultTestSize, framesPerSecond: nil),
            "Source: a test pattern, because no display was found. \(chooseSource)"
        )
    }

    /// Whether a person chooses the source in the desktop's dialog.
    var isChosenOnDesktop: Bool { if case .portal = self { true } else { false } }

    private static let chooseSource = "To choose another source, add --source."

    /// Opens the source, ready to be started: its size is known, and an invalid source has thrown.
    ///
    /// For standard input this waits until the header has been read. `framesPerSecond` is the rate of a screen, and of
    /// a test pattern without a rate; a file has its own. `broadcastTokens` authenticate a capturing process; without
    /// them, those in the environment are used (``BroadcastTokens/init(environment:)``). With `choosesAnew` a desktop
    /// asks the user again what to share.
    func open(
        environment: [String: String] = ProcessInfo.processInfo.environment, framesPerSecond: Double = 30,
        broadcastTokens: BroadcastTokens? = nil, choosesAnew: Bool = false
    ) throws -> any CaptureSource {
        let desktop = DesktopSession(environment: environment)
        switch self {
        case .test(let size, let rate):
            return try TestPatternSource(size: size, framesPerSecond: rate ?? framesPerSecond)
        case .portal(let kind):
            return try PortalChoice(kind).open(framesPerSecond: framesPerSecond, choosesAnew: choosesAnew)
        case .display(nil) where desktop.isWayland:
            Terminal.shared.say(desktop.sentence)
            return try PortalChoice(.monitor).open(framesPerSecond: framesPerSecond, choosesAnew: choosesAnew)
        case .display where desktop.isWayland, .region where desktop.isWayland:
            throw SpecificationError.invalidSpecification(
                text: description,
                problem: "on a Wayland desktop you choose what to share in the desktop's own window",
                remedy: "display or portal:monitor")
        case .display(nil):
            return try DisplaySource(
                area: .screen, display: environment["DISPLAY"], framesPerSecond: framesPerSecond)
        case .display(let output?):
            return try DisplaySource(
                area: .output(output), display: environment["DISPLAY"], framesPerSecond: framesPerSecond)
        case .region(let rectangle):
            return try DisplaySource(
                area: .region(rectangle), display: environment["DISPLAY"], framesPerSecond: framesPerSecond)
        case .camera(let name):
            return try CameraSource(named: name, framesPerSecond: framesPerSecond)
        case .window(let window):
            return try WindowSource(window, display: environment["DISPLAY"], framesPerSecond: framesPerSecond)
        case .file(let path, let loop):
            if Self.isPipe(path) { Terminal.shared.say("Waiting for the video that is written to \(path).") }
            return try Y4MSource(path: path, loop: loop)
        case .standardInput:
            return try Y4MSource.standardInput()
        case .broadcast(let endpoint):
            return try BroadcastSource(
                endpoint: endpoint, tokens: try broadcastTokens ?? BroadcastTokens(environment: environment),
                framesPerSecond: framesPerSecond, environment: environment)
        }
    }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }
}

extension SourceSpecification {
    /// The SPEC.
    var description: String {
        switch self {
        case .test(let size, nil): "test:\(size)"
        case .test(let size, let rate?): "test:\(size)@\(rate == rate.rounded() ? "\(Int(rate))" : "\(rate)")"
        case .display(nil): "display"
        case .portal(let kind): "portal:\(kind.rawValue)"
        case .display(let output?): "display:\(output)"
        case .region(let region): "region:\(region.size)+\(region.x)+\(region.y)"
        case .camera(nil): "camera"
        case .camera(let name?): "camera:\(name)"
        case .window(let window): window.specification
        case .file(let path, let loop): "file:\(path)\(loop ? ":loop" : "")"
        case .standardInput: "file:-"
        case .broadcast(let endpoint): "process:\(endpoint)"
        }
    }
}

extension SourceSpecification {
    private static let rateRemedy = "0.1 to 240 frames per second, for example test:640x480@30"
    private static let testRemedy = "test, test:1280x720 or test:1280x720@30"
    private static let regionRemedy = "region:WxH+X+Y, for example region:1280x720+0+0"
    private static let windowRemedy = "rtcshare sources (it lists the windows)"
    private static let titlePrefix = "title="
    private static let loopSuffix = ":loop"

    private static func test(_ argument: String?, in text: String) throws(SpecificationError) -> SourceSpecification {
        guard let argument else { return .test(size: defaultTestSize, framesPerSecond: nil) }
        let parts = argument.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let size = size(first) else {
            throw .invalidSpecification(text: text, problem: "the size is not WxH", remedy: testRemedy)
        }
        if let problem = TestPattern.problem(with: size) {
            throw .invalidSpecification(text: text, problem: problem, remedy: testRemedy)
        }
        guard parts.count == 2 else { return .test(size: size, framesPerSecond: nil) }
        guard let rate = Double(parts[1]), CaptureFormat.frameRates.contains(rate) else {
            throw .invalidSpecification(
                text: text, problem: "'\(parts[1])' is not a frame rate from 0.1 to 240", remedy: rateRemedy)
        }
        return .test(size: size, framesPerSecond: rate)
    }

    private static func rectangle(_ argument: String, in text: String) throws(SpecificationError) -> PixelRectangle {
        let parts = argument.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 3, let size = size(parts[0]), let x = number(parts[1]), let y = number(parts[2]) else {
            throw .invalidSpecification(text: text, problem: "the region is not WxH+X+Y", remedy: regionRemedy)
        }
        guard size.width >= 2, size.height >= 2 else {
            throw .invalidSpecification(
                text: text, problem: "a region has at least two columns and two rows", remedy: regionRemedy)
        }
        return PixelRectangle(x: x, y: y, size: size)
    }

    private static func window(_ argument: String, in text: String) throws(SpecificationError) -> WindowSpecification {
        if argument.hasPrefix(titlePrefix) {
            let title = String(argument.dropFirst(titlePrefix.count))
            guard !title.isEmpty else {
                throw .invalidSpecification(text: text, problem: "the title is missing", remedy: windowRemedy)
            }
            return .title(title)
        }
        let isHexadecimal = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let digits = isHexadecimal ? argument.dropFirst(2) : argument[...]
        // Swift's integers would accept a sign.
        guard let first = digits.first, first.isHexDigit, let id = UInt32(digits, radix: isHexadecimal ? 16 : 10) else {
            throw .invalidSpecification(text: text, problem: windowProblem(argument), remedy: windowRemedy)
        }
        return .id(id)
    }

    /// Returns the problem with an argument that is neither a number nor a title.
    private static func windowProblem(_ argument: String) -> String {
        guard argument.contains(where: \.isLetter), !argument.hasPrefix("0") else {
            return argument.isEmpty ? "the window's number is missing" : "'\(argument)' is not a window number"
        }
        let title = argument.drop { $0 == "=" }
        // `titel=x` means the title x as well.
        let name = title.prefix { $0 != "=" }
        let isKey = name.count < title.count && name.lowercased().hasPrefix("t")
        let meant = isKey ? title.dropFirst(name.count + 1) : title
        return "'\(argument)' is not a window number. Did you mean 'window:title=\(meant)'?"
    }

    private static func file(_ argument: String, in text: String) throws(SpecificationError) -> SourceSpecification {
        let loop = argument.hasSuffix(loopSuffix)
        let path = loop ? String(argument.dropLast(loopSuffix.count)) : argument
        guard !path.isEmpty else {
            throw .invalidSpecification(
                text: text, problem: "the path is missing", remedy: "file:PATH.y4m, file:PATH.y4m:loop or file:-")
        }
        guard path == "-" else { return .file(path: path, loop: loop) }
        guard !loop else {
            throw .invalidSpecification(
                text: text, problem: "standard input can't be looped",
                remedy: "file:- or file:PATH.y4m:loop")
        }
        return .standardInput
    }

    private static func endpoint(_ argument: String, in text: String) throws(SpecificationError) -> BroadcastEndpoint {
        if let port = UInt16(argument), port > 0 { return .port(port) }
        guard !(argument.count > 1 && argument.allSatisfy(\.isNumber)) else {
            throw .invalidSpecification(
                text: text, problem: "'\(argument)' is not a port from 1 to 65535", remedy: "process:5000")
        }
        guard argument.contains("/") else {
            throw .invalidSpecification(
                text: text, problem: "it needs a port or the path of a socket",
                remedy: "process:5000 or process:/PATH")
        }
        return .path(argument)
    }

    private static func size(_ text: Substring) -> PixelSize? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = number(sides[0]), let height = number(sides[1]) else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Parses a decimal. A number that is too long becomes one that is too large, so that its error names that.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int(text) ?? .max, 1_000_000)
    }
}

extension WindowSpecification {
    /// The SPEC of this window.
    var specification: String { "window:\(description)" }
}
