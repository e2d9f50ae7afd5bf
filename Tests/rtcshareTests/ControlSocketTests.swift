import Foundation
import RTCShareCaptureBroadcast
import RTCShareSDP
import Testing

@testable import rtcshare

/// The control sockets of running shares.
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

    @Test("An unknown share name is answered with the running shares")
    func noShare() {
        let failure = ControlOptions.noShare(named: "tlak", running: ["desk", "talk"])
        #expect(failure.status == .inputMissing)
        #expect(
            failure.lines(after: "")
                == ["no share named tlak is running. Running: desk, talk.", "Try: --name talk"])
        #expect(ControlOptions.noShare(named: "talk", running: []).remedy == "rtcshare serve --name talk")
    }

    @Test("An answer finds the viewer whose offer it belongs to")
    func answeredOffer() throws {
        func description(_ mid: String) throws -> SessionDescription {
            try SessionDescription.parse(
                "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:\(mid)\r\n")
        }
        let offers = [1: try description("a"), 2: try description("b")]
        func viewer(_ mid: String, named: Int? = nil, of offers: [Int: SessionDescription]) throws -> Int {
            try RunningShare.viewer(answering: offers, by: description(mid), named: named)
        }
        #expect(try viewer("b", of: offers) == 2)
        #expect(try viewer("b", named: 2, of: offers) == 2)
        #expect(try viewer("x", of: [3: description("a")]) == 3)
        for (mid, named, offers, words) in [
            ("a", 2, offers, ["--viewer 2: this is the answer of viewer 1.", "Try: rtcshare accept --viewer 1 FILE"]),
            (
                "x", 7, offers,
                [
                    "--viewer 7: this viewer does not wait for an answer.",
                    "Try: rtcshare accept --viewer 1 FILE (invited: 1, 2)",
                ]
            ),
            ("x", nil, [:], ["no invited viewer waits for an answer.", "Try: rtcshare invite > offer.sdp"]),
        ] as [(String, Int?, [Int: SessionDescription], [String])] {
            let failure = try #require(throws: CommandFailure.self) { try viewer(mid, named: named, of: offers) }
            #expect(failure.lines(after: "") == words)
        }
    }
}
