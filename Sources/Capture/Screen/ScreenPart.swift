import RTCShareCXCB
import RTCShareMedia

/// A part of the screen, as the subject of capture.
struct ScreenPart: ScreenSubject {
    let watched: xcb_window_t
    /// Zero, because the screen's pixels are always valid.
    let settlingTime = Duration.zero
    private let connection: XConnection
    private let area: DisplaySource.Area
    private let geometryEvents: EventTypes

    /// Watches for changes from now on.
    init(_ area: DisplaySource.Area, on connection: XConnection) {
        self.area = area
        self.connection = connection
        watched = connection.root
        geometryEvents = connection.watchGeometry()
    }

    mutating func handle(_ event: XEvent) -> Bool { geometryEvents.contains(event.type) }

    /// Nothing to discard: everything is looked up each time.
    mutating func forget() {}

    mutating func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight {
        let rectangle: PixelRectangle
        do throws(CaptureError) {
            guard let found = try area.rectangle(on: connection, signal: signal) else { return .stopped }
            rectangle = found
        } catch {
            guard let reason = error.absence else { throw error }
            return .hidden(.displayUnavailable(reason: reason))
        }
        let pixels = ScreenGeometry.Pixels(drawable: connection.root, area: rectangle)
        return .shown(ScreenGeometry(pixels: pixels, pointer: ScreenGeometry.Pointer(window: connection.root)), nil)
    }
}

extension CaptureError {
    /// The reason for a part of the screen that is missing for now, in the same words as long as that lasts; nil for
    /// all other errors.
    fileprivate var absence: String? {
        switch self {
        case .unknownOutput(let name, _): "the output '\(name)' is off or unplugged"
        case .regionOutsideScreen(let region, _):
            "\(region.size)+\(region.x)+\(region.y) is not on the screen, which has become smaller"
        case .unsharableSize: "the screen has a size that no video can have"
        default: nil
        }
    }
}
