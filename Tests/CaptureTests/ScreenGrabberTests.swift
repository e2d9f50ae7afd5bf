import RTCShareCXCB
import RTCShareMedia
import Testing

@testable import RTCShareCapture

@Suite("The grabber of a screen", .timeLimit(.minutes(1)))
struct ScreenGrabberTests {
    /// A part of the screen whose place differs after each rejection.
    private struct MovingPart: ScreenSubject {
        let watched: UInt32
        let settlingTime = Duration.zero
        /// The places to come, the current one first.
        var areas: [PixelRectangle]

        mutating func handle(_ event: XEvent) -> Bool { false }

        mutating func forget() { areas.removeFirst() }

        mutating func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight {
            let pixels = ScreenGeometry.Pixels(drawable: watched, area: areas[0])
            return .shown(ScreenGeometry(pixels: pixels, pointer: ScreenGeometry.Pointer(window: watched)), nil)
        }
    }

    @Test(
        "Capture continues after three rejections in a row by the X server, as of a window that is being made smaller",
        .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb"))
    func rejections() throws {
        let display = try VirtualDisplay()
        let connection = try XConnection(display: display.name)
        // All but the last place extend beyond the screen.
        let size = PixelSize(width: 64, height: 48)
        let areas = [620, 610, 600, 100].map { PixelRectangle(x: $0, y: 0, size: size) }
        let subject = MovingPart(watched: connection.root, areas: areas)
        guard var grabber = try ScreenGrabber(connection: connection, subject: subject, signal: nil) else {
            Issue.record("no grabber")
            return
        }
        var frames: [VideoFrame] = []
        for _ in areas {
            let isRunning = try grabber.update(signal: nil)
            #expect(isRunning && grabber.hasChange)
            if case .frame(let frame) = try grabber.look(evenIfOld: false, signal: nil) { frames.append(frame) }
        }
        #expect(frames.map(\.size) == [size] && frames.first?.damage == nil)
    }
}
