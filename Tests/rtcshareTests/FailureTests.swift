import Foundation
import RTCShareCapture
import RTCShareCaptureBroadcast
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareSignaling
import RTCShareTransport
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import rtcshare

/// The text of a failure.
@Suite
struct FailureTests {
    @Test("A failure has its problem in one sentence and its remedy in the next line")
    func form() {
        let failure = CommandFailure(.usage, Explanation("the source is missing", remedy: "--source test"))
        #expect(
            failure.lines(after: "rtcshare: ") == ["rtcshare: the source is missing.", "Try: --source test"])
        #expect(CommandFailure(.usage, "why?").lines(after: "") == ["why?"])
        let listing = CommandFailure(
            explaining: CaptureError.unknownSoundDevice(name: "a", kind: .sink, devices: ["b", "c\n"]))
        #expect(
            listing.located(at: "x").lines(after: "") == [
                "x: the audio server has no output 'a'. It has:", "  b", "  c\n", "Try: choose one of these",
            ])
        #expect(
            ControlAnswer(listing)
                == .failed(
                    status: 69, reason: "the audio server has no output 'a'. It has:", list: ["b", "c"],
                    remedy: "choose one of these"))
    }

    private static func errors() throws -> [any Error] {
        let address = try #require(TransportAddress("192.0.2.7", port: 9))
        let sdpErrors: [any Error] = ["", "{}", "v=0\r\nhello", "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\no=-"].map { text in
            do {
                _ = try SessionDescription.parse(text)
                return CancellationError()
            } catch {
                return error
            }
        }
        return sdpErrors + [
            ConnectionError.lost, ConnectionError.noAddress, ConnectionError.portTaken(address),
            ConnectionError.noPendingOffer, ICEServerError.missingCredentials(url: "turn:a"),
            ICEServerError.invalidURL("turns:a", reason: .secureDatagrams), ICEServerError.unresolvable(host: "a"),
            CaptureError.shareDeclined, CaptureError.camerasDeclined,
            CaptureError.unknownCamera(name: "a", cameras: []),
            CaptureError.displayUnavailable(display: nil, reason: "DISPLAY is not set"),
            CaptureError.soundServerUnavailable(server: nil, reason: "it refuses this user"),
            CaptureError.fileUnavailable(path: "/no/a.y4m", errorNumber: ENOENT), CaptureError.screenCastEnded,
            CaptureError.portalUnavailable(.noPortal), HandoverError.unanswered, SubgroupError.reserved,
            AttendeeIDError.content("a#content"), SharingRoomError.unknownViewer(3), ContentShareError.refusedByPeer,
            WHEPError.url, WHEPError.removed, WHEPError.declined, WHEPError.sessionGone,
            WHIPError.pictureDeclined(offered: ["VP8"]), JanusError.url,
            JanusError.pictureDeclined(offered: ["VP8", "AV1"], accepted: ["H264"]),
            JanusError.noPublisher("a", present: []), HTTPClientError.certificate("https://a"),
            HTTPClientError.noTLS("https://a"),
            ConnectionError.addressUnusable(address, reason: "it is not an address of this machine"),
            BroadcastError.auth("the share showed another token than expected"),
            ViewerServerError.notWaiting(3), MediaFileError.alreadyExists(path: "a.webm"),
            MediaFileError.unsuitableVideo(path: "a.webm", name: "alice", codec: "H264"),
        ]
    }

    @Test("No failure shows a standard's section, an error code or a semicolon")
    func plainWords() throws {
        for error in try Self.errors() {
            let failure = CommandFailure(explaining: error)
            let text = failure.lines(after: "rtcshare: ").joined(separator: "\n")
            #expect(failure.status != .internalError, "\(text)")
            for part in ["RFC", "OpenSSL", "errno", ";", "..", " no URL", "No such file or directory", "folder"] {
                #expect(!text.contains(part), "\(part) in \(text)")
            }
        }
    }

    @Test(
        "A file that can't be opened or written is an error with a remedy",
        arguments: [
            MediaFileError.cannotOpen(path: "/no/a.webm", reason: "there is no directory /no"),
            MediaFileError.alreadyExists(path: "a.png"),
            MediaFileError.unsuitableVideo(path: "a.b/c.webm", name: "alice", codec: "H264"),
            CaptureError.fileUnavailable(path: "a.y4m", errorNumber: ENOENT),
            CaptureError.unknownWindow(.title("Nope"), windows: []),
            ConnectionError.portTaken(TransportAddress(ip: .v4(0x7F00_0001), port: 8080)),
        ] as [any Error])
    func remedies(error: any Error) {
        let failure = CommandFailure(explaining: error)
        #expect(failure.remedy != nil, "\(failure.message)")
    }

    @Test("A video that WebM can't contain is named, with the option for a file that can")
    func unsuitableVideo() {
        let failure = CommandFailure(
            explaining: MediaFileError.unsuitableVideo(path: "a.b/c.webm", name: "alice", codec: "H264"))
        #expect(failure.status == .cannotCreate)
        #expect(
            failure.lines(after: "") == [
                "can't record alice to a.b/c.webm: files of this type can't contain H264.", "Try: --record a.b/c.mkv",
            ])
    }

    @Test("A URL is quoted without user, password, path and fragment")
    func quotedURL() {
        #expect("https://me:pw@a.example/key?x#y".withoutSecrets == "https://…@a.example/…")
        #expect("foo".withoutSecrets == "foo" && "foo#secret".withoutSecrets == "foo#…")
        #expect(String(repeating: "a", count: 200).withoutSecrets.count == 80)
    }

    @Test("A viewer that does not exist ends with 66, and the command that lists viewers is named")
    func unknownViewer() {
        for error in [SharingRoomError.unknownViewer(9), ViewerServerError.unknownViewer(9)] as [any Error] {
            let failure = CommandFailure(explaining: error)
            #expect(failure.status == .inputMissing)
            #expect(failure.lines(after: "") == ["no viewer 9.", "Try: rtcshare status"])
        }
    }

    @Test("The error for a missing file names the directory if that is missing")
    func missingFolder() throws {
        let folder = try TemporaryFolder()
        #expect(systemMessage(ENOENT, path: folder.file("a").path) == "there is no such file")
        #expect(systemMessage(ENOENT, path: "/no/such/a") == "there is no directory /no/such")
        #expect(systemMessage(ENOENT, path: "/a") == "there is no such file")
        #expect(systemMessage(ECONNREFUSED) == "connection refused")
    }

    @Test("A time of one second is singular")
    func seconds() {
        #expect([1, 2, 0.5, 1.5].map(\.inSeconds) == ["1 second", "2 seconds", "0.5 seconds", "1.5 seconds"])
    }
}
