// swift-tools-version: 6.2
import PackageDescription

// Somebody else's package: it has modules of its own named Media and SDP, and knows rtcshare by RTCShare alone.
let package = Package(
    name: "outside",
    dependencies: [.package(name: "rtcshare", path: Context.environment["RTCSHARE_PACKAGE"] ?? "../../../..")],
    targets: [
        .target(name: "Media"),
        .target(name: "SDP"),
        .executableTarget(
            name: "App", dependencies: ["Media", "SDP", .product(name: "RTCShare", package: "rtcshare")]),
    ],
    swiftLanguageModes: [.v6]
)
