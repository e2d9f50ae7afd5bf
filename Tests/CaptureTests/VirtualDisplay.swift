import Foundation
import TestSupport

/// An X server of a test's own, with nothing on it, that ends with it.
final class VirtualDisplay: Sendable {
    /// The display's name in DISPLAY.
    let name: String
    /// The number of the server's process.
    var processID: Int32 { server.processIdentifier }
    private let server: Process

    /// Whether the programs that the tests need are installed: Xvfb, and those that paint and capture.
    static let isAvailable = ["Xvfb", "xsetroot", "xrandr", "xdotool", "import"].allSatisfy { path(of: $0) != nil }

    /// Whether a window manager is installed or required.
    static let hasWindowManager =
        ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
        || ["openbox", "xterm"].allSatisfy { path(of: $0) != nil }

    /// Starts Xvfb, which chooses a free number. With `-noreset` it keeps a program's settings after its end.
    init(screen: String = "640x480x24", arguments: [String] = []) throws {
        let output = Pipe()
        server = Process()
        server.executableURL = URL(filePath: Self.path(of: "Xvfb") ?? "/usr/bin/Xvfb")
        server.arguments =
            ["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"] + arguments
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        try server.runAlone()
        var number = ""
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let scalar = byte.first, scalar != 0x0A {
            number.append(Character(UnicodeScalar(scalar)))
        }
        guard !number.isEmpty else { throw Failure(description: "Xvfb did not start") }
        name = ":\(number)"
    }

    deinit {
        kill()
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Ends the server as a crash would.
    func kill() {
        guard server.isRunning else { return }
        Glibc.kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    /// Suspends or resumes the server.
    func suspend(_ isSuspended: Bool) {
        Glibc.kill(server.processIdentifier, isSuspended ? SIGSTOP : SIGCONT)
    }

    /// Starts a program on this display.
    func start(_ program: String, _ arguments: [String], output: Any = FileHandle.nullDevice) throws -> Process {
        guard let path = Self.path(of: program) else { throw Failure(description: "no \(program)") }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["DISPLAY": name]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.runAlone()
        return process
    }

    /// Starts openbox, and waits until it manages windows: a window that is opened during its start may stay hidden.
    func startWindowManager() throws -> Process {
        let sign = NSTemporaryDirectory() + "openbox-\(UUID().uuidString)"
        defer { unlink(sign) }
        let manager = try start("openbox", ["--sm-disable", "--startup", "touch \(sign)"])
        let deadline = DispatchTime.now() + 20
        while !FileManager.default.fileExists(atPath: sign) {
            guard manager.isRunning, DispatchTime.now() < deadline else {
                throw Failure(description: "openbox did not start")
            }
            usleep(10_000)
        }
        return manager
    }

    /// Runs a program on this display to its end, and returns its output.
    @discardableResult
    func run(_ program: String, _ arguments: String...) throws -> Data {
        let output = Pipe()
        let process = try start(program, arguments, output: output)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) ended with \(process.terminationStatus)")
        }
        return data
    }

    /// The screen's pixels as ImageMagick sees them, 0xRRGGBB, row by row; the pointer is not among them.
    func judgedPixels() throws -> [UInt32] {
        let bytes = [UInt8](try run("import", "-silent", "-window", "root", "-depth", "8", "rgb:-"))
        return stride(from: 0, to: bytes.count - 2, by: 3).map {
            UInt32(bytes[$0]) << 16 | UInt32(bytes[$0 + 1]) << 8 | UInt32(bytes[$0 + 2])
        }
    }

    static func path(of program: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
            .map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
