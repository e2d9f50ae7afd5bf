import RTCShareCXCB
import RTCShareMedia

/// A part of the screen, as the subject of pictures.
struct ScreenPart: ScreenSubject {
    let watched: xcb_window_t
    /// What the screen shows is there to be seen.
    let settlingTime = Duration.zero
    private let connection: XConnection
    private let area: DisplaySource.Area
    private let geometryEvents: EventTypes

    /// Asks to be told of changes from now on.
    init(_ area: DisplaySource.Area, on connection: XConnection) {
        self.area = area
        self.connection = connection
        watched = connection.root
        geometryEvents = connection.watchGeometry()
    }

    mutating func take(_ event: XEvent) -> Bool { geometryEvents.contains(event.type) }

    /// Everything is looked up each time.
    mutating func forget() {}

    mutating func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight {
        guard let rectangle = try area.rectangle(on: connection, signal: signal) else { return .stopped }
        let pixels = ScreenPlace.Pixels(drawable: connection.root, area: rectangle)
        return .shown(ScreenPlace(pixels: pixels, pointer: ScreenPlace.Pointer(window: connection.root)), nil)
    }
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
