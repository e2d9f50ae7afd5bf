package import RTCShareMedia

/// The contents of an X display that can be shared.
package struct DisplayContents: Sendable, Hashable {
    /// The size of the whole screen.
    package let size: PixelSize
    /// The outputs with their product names, the primary one first.
    package let outputs: [DisplayOutput]
    /// The windows, in the window manager's order.
    package let windows: [DisplayWindow]

    /// Lists the contents of `display`, the value of `DISPLAY`, without this process's windows.
    package init(display: String?, includingMinimized: Bool) throws(CaptureError) {
        let connection = try XConnection(display: display)
        self = try DisplayContents(
            WindowList(connection: connection), on: connection, includingMinimized: includingMinimized)
    }

    /// Lists the contents. The screen's are those of `known`, if it is not nil.
    init(
        _ list: WindowList, on connection: XConnection, includingMinimized: Bool = false,
        knowing known: DisplayContents? = nil
    ) throws(CaptureError) {
        if let known {
            (size, outputs) = (known.size, known.outputs)
        } else {
            // Without a signal there is always an answer.
            size = try connection.screenSize(signal: nil) ?? PixelSize(width: 0, height: 0)
            outputs = try connection.outputs(signal: nil, withProductNames: true) ?? []
        }
        windows = try list.windows(leavingOut: .own, includingMinimized: includingMinimized)
    }
}

extension DisplaySource {
    /// Returns an image of the screen, of an output or of a region, fitted within `size`.
    package static func picture(
        of area: Area, fitting size: PixelSize, display: String?
    ) throws(CaptureError) -> PixelBuffer {
        let connection = try XConnection(display: display)
        var images = ImageReader(connection: connection, bound: size)
        // Without a signal there is always an answer.
        guard let rectangle = try area.rectangle(on: connection, signal: nil) else { throw .unsharableSize(size) }
        let part = PixelRectangle(x: 0, y: 0, size: rectangle.size)
        let pixels = ScreenGeometry.Pixels(drawable: connection.root, area: rectangle)
        guard let image = try images.images(of: [part], in: pixels, signal: nil)?[0] else {
            throw .unsharableSize(rectangle.size)
        }
        return image
    }
}
