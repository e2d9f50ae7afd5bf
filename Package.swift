// swift-tools-version: 6.2
import PackageDescription
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"), .enableExperimentalFeature("Lifetimes"), .treatAllWarnings(as: .error)]
let package = Package(name: "rtcshare", targets: [
.target(name: "WireFormat", dependencies: [], swiftSettings: settings),
.target(name: "Media", dependencies: [], swiftSettings: settings),
], swiftLanguageModes: [.v6])
