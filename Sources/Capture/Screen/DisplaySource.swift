public import Foundation
public import Media

/// Gives what an X screen shows: all of it, one output, or a region, with the mouse pointer.
///
/// A frame comes at once when something changes, but not more often than the rate allows, and says what changed; it is
/// stamped with when the server gave the picture. A screen at rest gives none. A screen or output that changes its
/// size is followed, frames then have the new size; a region that no longer lies on the screen ends the source.
/// Widths and heights are even: an odd last column or row is left out.
public final class DisplaySource: CaptureSource, BroadcastingVideoSource {
    /// The part of a screen to share.
    public enum Area: Sendable, Hashable {
        /// The whole screen.
        case screen
        /// What the output (monitor) of this name shows.
        case output(String)
        /// A rectangle of the screen.
        case region(PixelRectangle)
    }

    /// The size when the source was opened, and the rate.
    public let captureFormat: CaptureFormat
    private let area: Area
    private let display: String?
    private let connection: XConnection
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let thread = CaptureThread()

    /// Connects to `display` (what stands in `DISPLAY`) and looks the area up; what cannot be shared throws, and says
    /// what could be.
    public init(
        area: Area, display: String? = ProcessInfo.processInfo.environment["DISPLAY"], framesPerSecond: Double = 30
    ) throws(CaptureError) {
        guard SourceSpecification.frameRates.contains(framesPerSecond) else {
            throw .invalidSpecification(
                text: "display", problem: "\(framesPerSecond) frames a second cannot be captured",
                remedy: "choose 0.1 to 240 frames a second")
        }
        let connection = try XConnection(display: display)
        // Without a signal there is always an answer.
        let size = try area.rectangle(on: connection, signal: nil)?.size ?? PixelSize(width: 2, height: 2)
        captureFormat = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        self.area = area
        self.display = display
        self.connection = connection
    }

    /// The outputs (monitors) of a display, the primary one first.
    public static func outputs(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> [DisplayOutput] {
        try XConnection(display: display).outputs(signal: nil) ?? []
    }

    /// Begins to give frames.
    public func start() throws {
        let (area, connection, broadcaster) = (area, connection, broadcaster)
        let rate = captureFormat.framesPerSecond
        try thread.start { signal in
            broadcaster.start()
            var failure: CaptureError?
            do throws(CaptureError) {
                try Self.capture(area, connection, rate, to: broadcaster, until: signal)
            } catch {
                failure = error
            }
            signal.finish()
            broadcaster.end(error: failure)
        }
    }

    /// Gives frames until the signal is raised.
    private static func capture(
        _ area: Area, _ connection: XConnection, _ rate: Double, to broadcaster: VideoBroadcaster,
        until signal: StopSignal
    ) throws(CaptureError) {
        guard var grabber = try ScreenGrabber(connection: connection, wanted: area, signal: signal) else { return }
        var cadence = ScreenCadence(framesPerSecond: rate, now: monotonicNow())
        while !signal.isRaised {
            let demand = broadcaster.demand
            let hasChange = try grabber.hasChange() || demand == .picture
            let deadline = cadence.deadline(hasChange: hasChange)
            if monotonicNow() < deadline {
                // What has been noticed already is not told again.
                guard grabber.wait(until: deadline, signal: signal) else { return }
                continue
            }
            guard demand > .nothing else {
                cadence.skip(now: monotonicNow())
                continue
            }
            var isFrame = false
            switch try grabber.look(evenIfOld: demand == .picture, signal: signal) {
            case .stopped: return
            case .nothingNew: break
            case .frame(let frame):
                isFrame = true
                broadcaster.send(frame)
            }
            cadence.didLook(isFrame: isFrame, pointerMoved: grabber.pointerMoved, now: monotonicNow())
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}

extension DisplaySource.Area {
    /// Where on the screen this lies at this moment, with even sides; nil where `signal` was raised.
    func rectangle(on connection: XConnection, signal: StopSignal?) throws(CaptureError) -> PixelRectangle? {
        guard let size = try connection.screenSize(signal: signal) else { return nil }
        let screen = PixelRectangle(x: 0, y: 0, size: size)
        switch self {
        case .screen:
            return screen.even
        case .output(let name):
            guard let outputs = try connection.outputs(signal: signal) else { return nil }
            guard let output = outputs.first(where: { $0.name == name }) else {
                throw .unknownOutput(name: name, outputs: outputs)
            }
            // Between two events of one change an output may lie beyond the screen; take what is there.
            guard let visible = output.area.intersection(screen) else {
                throw .regionOutsideScreen(region: output.area, screen: size)
            }
            return visible.even
        case .region(let region):
            guard region.intersection(screen) == region else {
                throw .regionOutsideScreen(region: region, screen: size)
            }
            return region.even
        }
    }
}

extension PixelRectangle {
    /// Without an odd last column and row.
    fileprivate var even: PixelRectangle {
        PixelRectangle(x: x, y: y, size: PixelSize(width: max(size.width & ~1, 2), height: max(size.height & ~1, 2)))
    }
}
