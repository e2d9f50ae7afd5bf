import Foundation
import Testing
import TestSupport

/// The programs that a test needs, found on this machine. What is missing is named, so that a skipped test says why.
enum Peers {
    /// The command line under test: `RTCSHARE_EXECUTABLE`, or what the build put beside the test bundle.
    static let rtcshare: URL? = {
        if let path = ProcessInfo.processInfo.environment["RTCSHARE_EXECUTABLE"] {
            return URL(fileURLWithPath: path)
        }
        let bundles = [CommandLine.arguments.first.map(URL.init(fileURLWithPath:)), Bundle.main.executableURL]
        let beside = bundles.compactMap { $0?.deletingLastPathComponent().appendingPathComponent("rtcshare") }
        let built = repository.appendingPathComponent(".build/tests/release/rtcshare")
        return (beside + [built]).first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// The program that forwards UDP as a worse network would, which the build puts beside the test bundle.
    static var networkRelay: URL? { built("NetworkRelay") }

    /// The benchmarks, which the build puts there too.
    static var rtcbench: URL? { built("rtcbench") }

    private static func built(_ program: String) -> URL? {
        let bundles = [CommandLine.arguments.first.map(URL.init(fileURLWithPath:)), Bundle.main.executableURL]
        let beside = bundles.compactMap { $0?.deletingLastPathComponent().appendingPathComponent(program) }
        let built = repository.appendingPathComponent(".build/tests/release/\(program)")
        return (beside + [built]).first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A Python with aiortc, NumPy and Pillow: `RTCSHARE_PYTHON`, the one that `.ci/run` makes, or `python3` in PATH.
    static let python: URL? = {
        let named = ProcessInfo.processInfo.environment["RTCSHARE_PYTHON"].map(URL.init(fileURLWithPath:))
        let ours = repository.appendingPathComponent(".build-peers/bin/python")
        let candidates = named.map { [$0] } ?? ([ours, RunningProgram.find("python3")].compactMap { $0 })
        return candidates.first { has("aiortc, numpy, PIL", $0) }
    }()

    /// Whether that Python can drive a browser, for which it has websockets too.
    static let canDriveBrowsers: Bool = mustRun || python.map { has("websockets", $0) } ?? false

    /// Whether it has axe-core, which checks pages for accessibility.
    static let hasAxe: Bool = {
        let script = "import importlib.util as u; u.find_spec('axe_playwright_python').name"
        return mustRun || python.map { runs(script, $0) } ?? false
    }()

    /// Whether it has schemathesis, which checks HTTP interfaces against their descriptions.
    static let hasSchemathesis: Bool = mustRun || python.map { has("schemathesis", $0) } ?? false

    private static func has(_ modules: String, _ python: URL) -> Bool { runs("import \(modules)", python) }

    private static func runs(_ script: String, _ python: URL) -> Bool {
        guard FileManager.default.isExecutableFile(atPath: python.path) else { return false }
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", script]
        process.standardError = FileHandle.nullDevice
        guard (try? process.runAlone()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Where everything is meant to be installed, `RTCSHARE_REQUIRE_PEERS` makes what is missing fail, not skip.
    static let mustRun = ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil

    static var hasCommandLine: Bool { mustRun || rtcshare != nil }
    static var hasDisplayAndPython: Bool { mustRun || XvfbDisplay.missing == nil && python != nil }

    static var hasPulseAudio: Bool { mustRun || PulseDaemon.missing == nil }

    static func has(_ viewer: Viewer) -> Bool {
        mustRun || isInstalled(viewer)
    }

    static var hasBrowsersAndAiortc: Bool { [Viewer.chromium, .firefox, .aiortc].allSatisfy(has) }

    private static func isInstalled(_ viewer: Viewer) -> Bool {
        switch viewer {
        case .aiortc: python != nil
        case .chromium: RunningProgram.find("chromium") != nil
        case .firefox: RunningProgram.find("firefox-esr") ?? RunningProgram.find("firefox") != nil
        case .gstreamer: Viewer.systemPythonHasGStreamer
        }
    }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A script of the folder `Peers`.
    static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Peers/\(name)").path
    }

    /// The structural similarity of two PNG files of one size, 1 for equal ones.
    static func similarity(_ a: URL, _ b: URL, in folder: TemporaryFolder) async throws -> Double {
        let outcome = try await RunningProgram.run(
            try #require(python), [script("ssim.py"), a.path, b.path], in: folder, timeout: .seconds(60))
        let text = outcome.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
        return try #require(Double(text), "ssim.py: \(outcome.standardError)")
    }
}
