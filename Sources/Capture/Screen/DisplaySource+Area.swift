import RTCShareMedia

extension DisplaySource.Area {
    /// Returns the current place on the screen, with even sides; nil if `signal` was raised.
    func rectangle(on connection: XConnection, signal: StopSignal?) throws(CaptureError) -> PixelRectangle? {
        guard let found = try place(on: connection, signal: signal) else { return nil }
        guard found.size.isSharable else { throw .unsharableSize(found.size) }
        return found.even
    }

    private func place(on connection: XConnection, signal: StopSignal?) throws(CaptureError) -> PixelRectangle? {
        guard let size = try connection.screenSize(signal: signal) else { return nil }
        let screen = PixelRectangle(x: 0, y: 0, size: size)
        switch self {
        case .screen:
            return screen
        case .output(let name):
            guard let outputs = try connection.outputs(signal: signal) else { return nil }
            guard let output = outputs.first(where: { $0.name == name }) else {
                throw .unknownOutput(name: name, outputs: outputs)
            }
            // Between two events of one change an output may be beyond the screen; use the visible part.
            guard let visible = output.area.intersection(screen) else {
                throw .regionOutsideScreen(region: output.area, screen: size)
            }
            return visible
        case .region(let region):
            guard region.intersection(screen) == region else {
                throw .regionOutsideScreen(region: region, screen: size)
            }
            return region
        }
    }
}
