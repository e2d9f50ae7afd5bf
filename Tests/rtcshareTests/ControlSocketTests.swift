import Foundation
import RTCShareCaptureBroadcast
import Testing

@testable import rtcshare

/// The names of running shares.
@Suite struct ControlSocketTests {
    @Test(
        "The name of a share is neither a path nor the name of a capture's socket",
        arguments: [
            ("share", true), ("broadcast", true), ("broadcast-x", true), ("my-share_2", true),
            ("broadcast-5000", false), ("../share", false), ("", false), ("-x", false), ("a b", false),
            (String(repeating: "x", count: 33), false),
        ])
    func names(name: String, isName: Bool) {
        #expect(((try? ControlSocket(name: name)) != nil) == isName)
    }

    @Test("The socket that a share opens for its capture is not listed as a share")
    func captureSocket() {
        let path = BroadcastEndpoint.sharedMemoryPath(port: 5000, environment: ["XDG_RUNTIME_DIR": "/run/user/1000"])
        let name = URL(filePath: path).deletingPathExtension().lastPathComponent
        #expect(throws: CommandFailure.self) { try ControlSocket(name: name) }
    }
}
