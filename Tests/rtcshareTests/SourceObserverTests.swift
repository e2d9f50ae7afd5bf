import RTCShareCaptureBroadcast
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import Testing

@testable import rtcshare

@Suite("The observer of a source")
struct SourceObserverTests {
    @Test("Events of a capturing process are printed in their order")
    @SharingActor func order() async {
        let lines = Locked<[String]>([])
        let (_, events) = AsyncStream.makeStream(of: Share.Occurrence.self)
        let observer = SourceObserver(.content(isSizeChosen: true), events, isReporting: true) { printed in
            lines.withLock { $0 += printed }
        }
        let interruption = CaptureInterruption.extensionUnavailable(reason: "it ended")
        observer.captureWasInterrupted(by: interruption)
        observer.broadcastDidStart(transport: .tcp)
        observer.captureInterruptionDidEnd(interruption)
        await settle()
        let expected = [
            "The video is paused: \(interruption).", "The capturing process is connected over tcp.",
            "The video continues.",
        ]
        #expect(lines.withLock { $0 } == expected)
    }
}
