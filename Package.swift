// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built alike: strict concurrency comes with the language mode, warnings are errors.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // An `async` function runs where its caller does: what lives on an event loop is never touched beside it.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    .treatAllWarnings(as: .error),
]

/// Tests that wait for sockets and programs: optimized they would run no faster, and compile for minutes.
let settingsOfWaitingTests = settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// A module has its folder's name, and the library's before it: no other package has one of that name.
func moduleName(_ folder: String) -> String { "RTCShare\(folder)" }

func needs(_ modules: [String], _ others: [Target.Dependency] = []) -> [Target.Dependency] {
    modules.map { .target(name: moduleName($0)) } + others
}

func module(
    _ folder: String, _ modules: [String] = [], _ others: [Target.Dependency] = [], under parent: String = "Sources"
) -> Target {
    .target(
        name: moduleName(folder), dependencies: needs(modules, others), path: "\(parent)/\(folder)",
        swiftSettings: settings)
}

func moduleInC(_ folder: String, _ modules: [String] = [], under parent: String = "Sources") -> Target {
    .target(name: moduleName(folder), dependencies: needs(modules), path: "\(parent)/\(folder)")
}

func systemLibrary(_ folder: String, pkgConfig: String? = nil, debian packages: String...) -> Target {
    .systemLibrary(
        name: moduleName(folder), path: "Sources/\(folder)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

func program(
    _ name: String, _ modules: [String], _ others: [Target.Dependency] = [], under parent: String = "Sources"
) -> Target {
    .executableTarget(
        name: name, dependencies: needs(modules, others), path: "\(parent)/\(name)", swiftSettings: settings)
}

/// A program as anybody would write it: it sees what is public.
func example(_ name: String, _ modules: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["RTCShare"] + needs(modules), path: "Examples/\(name)", packageAccess: false,
        swiftSettings: settings)
}

func tests(
    _ name: String, _ modules: [String], _ others: [Target.Dependency] = ["TestSupport"], exclude: [String] = [],
    swiftSettings: [SwiftSetting] = settings
) -> Target {
    .testTarget(
        name: name, dependencies: needs(modules, others), path: "Tests/\(name)", exclude: exclude,
        swiftSettings: swiftSettings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")

let package = Package(
    name: "rtcshare",
    products: [
        .library(
            name: "RTCShare",
            targets: ["RTCShare"]),
        .library(name: "RTCShareSignaling", targets: ["RTCShareSignaling"]),
        .library(name: "RTCSharePlayback", targets: ["RTCSharePlayback"]),
        .executable(name: "rtcshare", targets: ["rtcshare"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // Floor 0: the system's libraries.
        systemLibrary("CVPX", pkgConfig: "vpx", debian: "libvpx-dev"),
        systemLibrary("CSRTP", pkgConfig: "libsrtp2", debian: "libsrtp2-dev"),
        systemLibrary("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
        systemLibrary("CYUV", debian: "libyuv-dev"),
        systemLibrary("CPNG", pkgConfig: "libpng", debian: "libpng-dev"),
        systemLibrary("CZ", pkgConfig: "zlib", debian: "zlib1g-dev"),
        systemLibrary("COpus", pkgConfig: "opus", debian: "libopus-dev"),
        systemLibrary("CSampleRate", pkgConfig: "samplerate", debian: "libsamplerate0-dev"),
        systemLibrary("CSndFile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
        systemLibrary("CDBus", pkgConfig: "dbus-1", debian: "libdbus-1-dev"),
        systemLibrary("CPipeWire", pkgConfig: "libpipewire-0.3", debian: "libpipewire-0.3-dev"),
        systemLibrary("CCURL", pkgConfig: "libcurl", debian: "libcurl4-openssl-dev"),
        systemLibrary("CQREncode", pkgConfig: "libqrencode", debian: "libqrencode-dev"),
        systemLibrary(
            "CXCB", pkgConfig: "xcb", debian: "libxcb1-dev", "libxcb-composite0-dev", "libxcb-damage0-dev",
            "libxcb-randr0-dev", "libxcb-shm0-dev", "libxcb-xfixes0-dev"),

        // Libraries that a machine may be without, which are looked for when they are needed.
        moduleInC("COptionalLibrary"),
        moduleInC("CPulse", ["COptionalLibrary"]),
        moduleInC("CUnistring", ["COptionalLibrary"]),
        moduleInC("CAOM", ["COptionalLibrary"]),
        moduleInC("CDav1d", ["COptionalLibrary"]),
        moduleInC("COpenH264", ["COptionalLibrary"]),
        moduleInC("CMiniUPnP", ["COptionalLibrary"]),
        // Pictures of PipeWire's nodes: its interface is macros of C for the most part.
        moduleInC("CPipeWireVideo", ["COptionalLibrary", "CPipeWire"]),
        // SDL 2, which is looked for when a window is wanted, and linked by nobody.
        moduleInC("CSDL"),
        // Calls of Linux whose types the C library hides from Swift: many datagrams at a time.
        moduleInC("CDatagrams"),
        // Memory and descriptors that processes share.
        moduleInC("CSharedMemory"),
        // What a process lets others see of it, and the memory that it takes.
        moduleInC("CProcess"),
        // The page that browsers show, embedded.
        .target(name: moduleName("CViewerPage"), path: "Sources/CViewerPage", exclude: ["page"]),
        // The page for the presenter, embedded.
        .target(name: moduleName("CPresenterPage"), path: "Sources/CPresenterPage", exclude: ["page"]),
        // The description of the control interface, embedded.
        .target(name: moduleName("CControlAPI"), path: "Sources/CControlAPI", exclude: ["openapi.json"]),

        // Floor 1: formats and the media model.
        module("Locks"),
        module("WireFormat"),
        module("Cryptography", ["COpenSSL"]),
        module("SDP", ["WireFormat"]),
        module("STUN", ["CUnistring", "Cryptography", "WireFormat"]),
        module("RTP", ["WireFormat"]),
        module("Media", ["Locks", "WireFormat"]),

        // Floor 2: the protocols and the codecs.
        module("ICE", ["STUN", "WireFormat"]),
        module("SecureTransport", ["COpenSSL", "CSRTP", "Locks", "WireFormat"]),
        module("CongestionControl", ["RTP", "WireFormat"]),
        module(
            "VideoCoding",
            ["CAOM", "CDav1d", "COpenH264", "CPNG", "CVPX", "CYUV", "Locks", "Media", "RTP", "WireFormat"]),
        module("Recording", ["Media", "RTP", "VideoCoding", "WireFormat"]),
        module("AudioCoding", ["COpus", "CSampleRate", "CSndFile", "Locks", "Media", "WireFormat"]),
        module(
            "Capture",
            ["AudioCoding", "CDBus", "CPipeWireVideo", "CPulse", "CXCB", "CYUV", "Locks", "Media", "WireFormat"]),
        module(
            "CaptureBroadcast",
            ["CSharedMemory", "CYUV", "Capture", "Cryptography", "Locks", "Media", "WireFormat"]),

        // Floor 3: the whole peer, without input or output.
        module(
            "PeerConnection", ["CongestionControl", "ICE", "Media", "RTP", "SDP", "SecureTransport", "WireFormat"]),

        // Floor 4: the peer on a network, and what people call a share.
        module(
            "Transport",
            [
                "CDatagrams", "CMiniUPnP", "CongestionControl", "Cryptography", "ICE", "Locks", "Media",
                "PeerConnection", "RTP", "SDP", "STUN", "SecureTransport", "WireFormat",
            ], [logging, nioCore, nioPosix]),
        module(
            "Streams",
            [
                "AudioCoding", "Locks", "Media", "PeerConnection", "RTP", "Recording", "Transport", "VideoCoding",
                "WireFormat",
            ], [logging, nioCore]),
        module(
            "ContentShare",
            [
                "Locks", "Media", "PeerConnection", "RTP", "Recording", "SDP", "Streams", "Transport", "VideoCoding",
                "WireFormat",
            ]),

        // All that a program imports.
        .target(
            name: "RTCShare",
            dependencies: needs([
                "AudioCoding", "Capture", "CaptureBroadcast", "ContentShare", "ICE", "Media", "PeerConnection", "SDP",
                "Streams", "Transport", "VideoCoding", "WireFormat",
            ]), swiftSettings: settings),

        // Floor 5: how viewers and servers are met.
        module(
            "Signaling",
            [
                "CCURL", "CViewerPage", "CZ", "ContentShare", "Cryptography", "Locks", "Media", "PeerConnection", "SDP",
                "SecureTransport", "Streams", "Transport", "WireFormat",
            ], [logging, nioCore, nioHTTP, nioPosix, nioWebSocket]),

        // Floor 5: where pictures are seen and sound is heard.
        module(
            "Playback",
            ["AudioCoding", "CSDL", "Capture", "ContentShare", "Locks", "Media", "PeerConnection", "WireFormat"]),

        // Floor 6: the program.
        program(
            "rtcshare",
            [
                "AudioCoding", "CControlAPI", "CPresenterPage", "CProcess", "CQREncode", "Capture", "CaptureBroadcast",
                "CongestionControl", "ContentShare", "Cryptography", "ICE", "Locks", "Media", "PeerConnection",
                "Playback", "RTP", "SDP", "SecureTransport", "Signaling", "Streams", "Transport", "VideoCoding",
                "WireFormat",
            ], ["RTCShare", argumentParser, logging, nioCore, nioHTTP]),

        // What the README shows, and a program for each of the systems whose ways these are.
        example("ShareTestPattern"),
        example("ContentShareTiles"),
        example("CustomVideo"),
        example("StreamAndTracks"),
        example("ScreenCapturer"),
        example("SubgroupShare"),
        example("DeviceLevelShare"),
        example("ScreenBroadcast"),
        example("ShareScreen", ["Playback"]),
        example("ViewInWindow", ["Playback"]),
        example("PublishToServer", ["Signaling"]),
        // The code of the articles, as anybody would write it.
        .target(
            name: "Snippets", dependencies: ["RTCShare"] + needs(["Playback", "Signaling"]), path: "Examples/Snippets",
            packageAccess: false,
            swiftSettings: settings),

        // The benchmarks: a network in virtual time, a count of the allocations of a process, and the program.
        module("NetworkSimulation", ["WireFormat"], under: "Tests"),
        moduleInC("CAllocations", under: "Tests"),
        program(
            "rtcbench",
            [
                "CAllocations", "CDatagrams", "CProcess", "CXCB", "Capture", "CongestionControl", "ContentShare",
                "ICE", "Locks", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "SecureTransport",
                "Signaling", "Streams", "Transport", "VideoCoding", "WireFormat",
            ], [argumentParser, logging], under: "Tests"),

        // Tests: a folder a module, and what they share.
        .target(
            name: "TestSupport",
            dependencies: needs(
                [
                    "ICE", "Locks", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "STUN",
                    "SecureTransport", "Transport", "WireFormat",
                ], [logging, nioCore, nioPosix]),
            path: "Tests/Support", exclude: ["NetworkRelay", "VideoNode"], swiftSettings: settings),
        // A camera or a screen of PipeWire that does what a test tells it.
        .target(
            name: "VideoNode", dependencies: needs(["CPipeWire", "CPipeWireVideo"]), path: "Tests/Support/VideoNode",
            linkerSettings: [.linkedLibrary("pipewire-0.3")]),
        .executableTarget(
            name: "NetworkRelay", dependencies: needs(["NetworkSimulation", "WireFormat"], [argumentParser]),
            path: "Tests/Support/NetworkRelay", swiftSettings: settings),
        tests("AudioCodingTests", ["AudioCoding", "Locks", "Media"]),
        tests(
            "CaptureTests", ["AudioCoding", "CPipeWireVideo", "CXCB", "Capture", "Locks", "Media"],
            swiftSettings: settingsOfWaitingTests),
        tests(
            "CaptureBroadcastTests", ["CSharedMemory", "Capture", "CaptureBroadcast", "Locks", "Media", "WireFormat"]),
        tests("CongestionControlTests", ["CongestionControl", "RTP", "WireFormat"]),
        tests(
            "ContentShareTests",
            [
                "AudioCoding", "Capture", "ContentShare", "Locks", "Media", "PeerConnection", "RTP", "SDP", "Streams",
                "Transport", "VideoCoding", "WireFormat",
            ], ["TestSupport", nioCore], swiftSettings: settingsOfWaitingTests),
        tests("CryptographyTests", ["Cryptography", "WireFormat"]),
        tests("ICETests", ["Cryptography", "ICE", "STUN", "WireFormat"]),
        tests("LocksTests", ["Locks"]),
        tests("MediaTests", ["Locks", "Media", "WireFormat"]),
        tests("NetworkSimulationTests", ["NetworkSimulation", "WireFormat"]),
        tests(
            "PeerConnectionTests",
            [
                "CProcess", "CongestionControl", "ICE", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP",
                "SecureTransport", "VideoCoding", "WireFormat",
            ]),
        tests(
            "TransportTests",
            [
                "CongestionControl", "ICE", "Locks", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP",
                "STUN", "Transport", "WireFormat",
            ],
            ["TestSupport", logging, nioCore, nioEmbedded, nioPosix], swiftSettings: settingsOfWaitingTests),
        tests(
            "StreamsTests",
            [
                "AudioCoding", "Capture", "Locks", "Media", "PeerConnection", "RTP", "SDP", "Streams", "Transport",
                "VideoCoding", "WireFormat",
            ], ["TestSupport", logging, nioCore, nioPosix], swiftSettings: settingsOfWaitingTests),
        tests(
            "PlaybackTests", ["CSDL", "Capture", "ContentShare", "Locks", "Media", "Playback"]),
        tests("RTPTests", ["RTP", "WireFormat"]),
        tests("SDPTests", ["SDP", "WireFormat"]),
        tests(
            "SignalingTests",
            [
                "CPresenterPage", "Capture", "ContentShare", "Cryptography", "Locks", "Media", "PeerConnection", "SDP",
                "Signaling", "Streams", "Transport", "WireFormat",
            ], ["TestSupport", logging, nioCore, nioHTTP, nioPosix, nioWebSocket], swiftSettings: settingsOfWaitingTests
        ),
        tests(
            "RecordingTests",
            ["AudioCoding", "Locks", "Media", "RTP", "Recording", "Streams", "Transport", "VideoCoding", "WireFormat"]),
        tests("STUNTests", ["Cryptography", "STUN", "WireFormat"]),
        tests("SecureTransportTests", ["COpenSSL", "CSRTP", "SecureTransport", "WireFormat"]),
        tests(
            "VideoCodingTests",
            ["CAOM", "CDav1d", "COpenH264", "CPNG", "CVPX", "CYUV", "Locks", "Media", "RTP", "VideoCoding"]),
        // What the command line does without a process of its own.
        tests(
            "rtcshareTests",
            [
                "Capture", "CaptureBroadcast", "ContentShare", "Cryptography", "Locks", "Media", "PeerConnection",
                "SDP", "Signaling", "Streams", "Transport", "VideoCoding", "WireFormat",
            ], ["RTCShare", "TestSupport", "rtcshare", argumentParser], swiftSettings: settingsOfWaitingTests),
        tests(
            "InteropTests",
            [
                "Capture", "CaptureBroadcast", "ContentShare", "Cryptography", "Locks", "Media", "PeerConnection",
                "SDP", "Signaling", "Streams", "Transport", "VideoCoding", "WireFormat",
            ], ["RTCShare", "TestSupport", "VideoNode", "rtcshare", argumentParser], exclude: ["Peers"],
            swiftSettings: settingsOfWaitingTests),
    ],
    swiftLanguageModes: [.v6]
)

// libFuzzer's `main` is linked to every program that is built for it: the fuzzer has none of its own, and the command line
// is a library there. `.ci/fuzz` asks for it.
if Context.environment["RTCSHARE_FUZZ"] != nil {
    package.products.removeAll { $0.name == "rtcshare" }
    package.targets = package.targets.map { target in
        guard target.name == "rtcshare" else { return target }
        return .target(
            name: target.name, dependencies: target.dependencies, exclude: ["Main.swift"], swiftSettings: settings)
    }
    package.targets.append(
        .executableTarget(
            name: "Fuzzing",
            dependencies: needs(
                [
                    "AudioCoding", "CPipeWireVideo", "CSharedMemory", "Capture", "CaptureBroadcast", "ContentShare",
                    "ICE", "Locks", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "STUN",
                    "SecureTransport", "Signaling", "Streams", "Transport", "VideoCoding", "WireFormat",
                ], ["TestSupport", "rtcshare", nioCore, nioEmbedded, nioHTTP, nioWebSocket]), path: "Tests/Fuzzing",
            exclude: ["Corpus"],
            swiftSettings: settings))
}
