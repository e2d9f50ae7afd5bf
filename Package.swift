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

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func example(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Examples/\(name)", swiftSettings: settings)
}

let package = Package(
    name: "rtcshare",
    products: [
        .library(
            name: "RTCShare",
            targets: [
                "AudioCoding", "Capture", "CaptureBroadcast", "ContentShare", "Media", "NetworkRuntime",
                "PeerConnection", "SDP", "VideoCoding",
            ]),
        .executable(name: "rtcshare", targets: ["rtcshare"]),
        .executable(name: "rtcbench", targets: ["rtcbench"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // Floor 0: the system's libraries.
        .systemLibrary(name: "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
        .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "CSampleRate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
        .systemLibrary(
            name: "CXCB", pkgConfig: "xcb",
            providers: [
                .apt([
                    "libxcb1-dev", "libxcb-composite0-dev", "libxcb-damage0-dev", "libxcb-randr0-dev",
                    "libxcb-shm0-dev", "libxcb-xfixes0-dev",
                ])
            ]),

        // Calls of Linux whose types the C library hides from Swift: many datagrams at a time.
        .target(name: "CDatagrams"),
        // Memory and descriptors that processes share.
        .target(name: "CSharedMemory"),
        // What a process lets others see of it, and the memory that it takes.
        .target(name: "CProcess"),
        // Counts the allocations of whoever links it: for benchmarks alone.
        .target(name: "CAllocations"),

        // Floor 1: formats and the media model.
        module("Locks"),
        module("WireFormat"),
        module("Cryptography", ["COpenSSL"]),
        module("SDP", ["WireFormat"]),
        module("STUN", ["WireFormat", "Cryptography"]),
        module("RTP", ["WireFormat"]),
        module("Media", ["Locks"]),
        // A network in virtual time, for benchmarks and tests alone.
        module("NetworkSimulation", ["WireFormat"]),

        // Floor 2: the protocols and the codecs.
        module("ICE", ["STUN", "WireFormat"]),
        module("SecureTransport", ["COpenSSL", "CSRTP", "Locks", "WireFormat"]),
        module("CongestionControl", ["RTP", "WireFormat"]),
        module("VideoCoding", ["CPNG", "CProcess", "CVPX", "CYUV", "Locks", "Media"]),
        module("AudioCoding", ["COpus", "CSampleRate", "CSndFile", "Locks", "Media"]),
        module(
            "Capture",
            ["AudioCoding", "CPulse", "CXCB", "CYUV", "Locks", "Media"]),
        module(
            "CaptureBroadcast",
            ["CSharedMemory", "CYUV", "Capture", "Cryptography", "Locks", "Media", "WireFormat"]),

        // Floor 3: the whole peer, without input or output.
        module(
            "PeerConnection", ["CongestionControl", "ICE", "RTP", "SDP", "SecureTransport", "WireFormat"]),

        // Floor 4: the peer on a network, and what people call a share.
        module(
            "NetworkRuntime",
            [
                "AudioCoding", "CDatagrams", "ICE", "Locks", "Media", "PeerConnection", "RTP", "SDP", "STUN",
                "VideoCoding", "WireFormat",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        module(
            "ContentShare", ["Locks", "Media", "NetworkRuntime", "PeerConnection", "SDP", "VideoCoding", "WireFormat"]),

        // Floor 5: the programs.
        .executableTarget(
            name: "rtcshare",
            dependencies: [
                "AudioCoding", "CProcess", "Capture", "CaptureBroadcast", "ContentShare", "ICE", "Locks", "Media",
                "NetworkRuntime", "PeerConnection", "RTP", "SDP", "SecureTransport", "VideoCoding", "WireFormat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "rtcbench",
            dependencies: [
                "CAllocations", "CDatagrams", "CProcess", "CXCB", "Capture", "ContentShare", "ICE", "Locks", "Media",
                "NetworkRuntime", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "SecureTransport", "VideoCoding",
                "WireFormat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: settings),

        // What the README shows, and a program for each of the systems whose ways these are.
        example("ShareTestPattern", ["Capture", "ContentShare", "Media", "NetworkRuntime", "SDP"]),
        example("ContentShareTiles", ["Capture", "ContentShare", "Media"]),
        example("CustomVideo", ["ContentShare", "Media"]),
        example("StreamAndTracks", ["Capture", "ContentShare", "Media", "VideoCoding"]),
        example("ScreenCapturer", ["Capture", "ContentShare", "Media"]),
        example("SubgroupShare", ["Capture", "CaptureBroadcast", "ContentShare", "Media"]),
        example("DeviceLevelShare", ["Capture", "ContentShare", "Media", "NetworkRuntime"]),
        example("ScreenBroadcast", ["Capture", "CaptureBroadcast", "ContentShare", "Media"]),

        // Tests: a folder a module, and what they share.
        .target(
            name: "TestSupport",
            dependencies: [
                "ICE", "Locks", "Media", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "SecureTransport",
                "WireFormat",
            ],
            path: "Tests/Support", exclude: ["NetworkRelay"], swiftSettings: settings),
        .executableTarget(
            name: "NetworkRelay",
            dependencies: [
                "NetworkSimulation", "WireFormat", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Tests/Support/NetworkRelay", swiftSettings: settings),
        tests("AudioCodingTests", ["AudioCoding", "Locks", "Media"]),
        tests("CaptureTests", ["AudioCoding", "CXCB", "Capture", "Locks", "Media", "TestSupport"]),
        tests(
            "CaptureBroadcastTests",
            ["CSharedMemory", "Capture", "CaptureBroadcast", "Locks", "Media", "TestSupport", "WireFormat"]),
        tests("CongestionControlTests", ["CongestionControl", "RTP", "TestSupport", "WireFormat"]),
        tests(
            "ContentShareTests",
            [
                "AudioCoding", "Capture", "ContentShare", "Locks", "Media", "NetworkRuntime", "PeerConnection", "RTP",
                "SDP", "VideoCoding", "WireFormat",
            ]),
        tests("CryptographyTests", ["Cryptography", "WireFormat"]),
        tests("ICETests", ["Cryptography", "ICE", "STUN", "TestSupport", "WireFormat"]),
        tests("MediaTests", ["Locks", "Media"]),
        tests("NetworkSimulationTests", ["NetworkSimulation", "WireFormat"]),
        tests(
            "PeerConnectionTests",
            [
                "CProcess", "CongestionControl", "ICE", "NetworkSimulation", "PeerConnection", "RTP", "SDP",
                "SecureTransport", "TestSupport", "WireFormat",
            ]),
        tests(
            "NetworkRuntimeTests",
            [
                "AudioCoding", "Capture", "ICE", "Locks", "Media", "NetworkRuntime", "PeerConnection", "RTP", "SDP",
                "STUN", "TestSupport", "VideoCoding", "WireFormat",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        tests("RTPTests", ["RTP", "TestSupport", "WireFormat"]),
        tests("SDPTests", ["SDP", "TestSupport", "WireFormat"]),
        tests("STUNTests", ["Cryptography", "STUN", "TestSupport", "WireFormat"]),
        tests("SecureTransportTests", ["COpenSSL", "CSRTP", "SecureTransport", "WireFormat"]),
        tests("VideoCodingTests", ["CPNG", "CVPX", "CYUV", "Locks", "Media", "TestSupport", "VideoCoding"]),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "Capture", "CaptureBroadcast", "ContentShare", "Locks", "Media", "NetworkRuntime", "PeerConnection",
                "SDP", "WireFormat", "rtcshare",
            ], path: "Tests/InteropTests", exclude: ["Peers"], swiftSettings: settings),
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
            dependencies: [
                "AudioCoding", "CSharedMemory", "Capture", "CaptureBroadcast", "ContentShare", "ICE", "Locks", "Media",
                "NetworkRuntime", "NetworkSimulation", "PeerConnection", "RTP", "SDP", "STUN", "SecureTransport",
                "TestSupport", "VideoCoding", "WireFormat", "rtcshare",
            ], path: "Tests/Fuzzing", exclude: ["Corpus"], swiftSettings: settings))
}
