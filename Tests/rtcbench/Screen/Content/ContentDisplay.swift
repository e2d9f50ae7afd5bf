internal import Foundation
internal import RTCShareCXCB
internal import RTCShareMedia

/// A window as large as the screen, in which the content is drawn by the core protocol's requests, like that of
/// programs, so that X DAMAGE reports the same.
final class ContentDisplay: Sendable {
    let size: PixelSize
    let font: FixedFont
    /// The X server's vendor and release.
    let server: String
    // XCB locks within each of its functions, and the pointer lives as long as this object, which owns it.
    private nonisolated(unsafe) let connection: OpaquePointer
    private let root: xcb_window_t
    private let window: xcb_window_t
    private let context: xcb_gcontext_t
    /// Whether the root window is empty, and a Wayland desktop shows windows separately.
    private let isRootless: Bool
    private static let depth: UInt8 = 24
    private static let maximumTextLength = 254

    /// An invisible buffer for drawing, as in programs that show only whole frames.
    struct Buffer: Sendable {
        fileprivate let pixmap: xcb_pixmap_t
    }

    /// The moving images of a content, in the memory of the X server.
    struct Upload: Sendable {
        let size: PixelSize
        let pixmaps: [xcb_pixmap_t]
    }

    init(display: String, isRootless: Bool = false) throws {
        guard let connection = xcb_connect(display, nil), xcb_connection_has_error(connection) == 0,
            let setup = xcb_get_setup(connection), let screen = xcb_setup_roots_iterator(setup).data
        else { throw BenchmarkFailure("the X server \(display) can't be drawn on: it did not take the connection") }
        self.connection = connection
        self.isRootless = isRootless
        let vendor = UnsafeRawBufferPointer(
            start: xcb_setup_vendor(setup), count: Int(xcb_setup_vendor_length(setup)))
        server = "\(String(decoding: vendor, as: UTF8.self)) release \(setup.pointee.release_number)"
        root = screen.pointee.root
        size = PixelSize(width: Int(screen.pointee.width_in_pixels), height: Int(screen.pointee.height_in_pixels))
        window = xcb_generate_id(connection)
        context = xcb_generate_id(connection)
        let fontID = xcb_generate_id(connection)
        xcb_open_font(connection, fontID, 5, "fixed")
        // The values have the order of the bits in the mask.
        let values: [UInt32] = [screen.pointee.black_pixel, 1]
        xcb_create_window(
            connection, Self.depth, window, root, 0, 0, screen.pointee.width_in_pixels,
            screen.pointee.height_in_pixels, 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
            screen.pointee.root_visual, XCB_CW_BACK_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue, values)
        let drawing: [UInt32] = [0xFFFFFF, 0, fontID, 0]
        xcb_create_gc(
            connection, context, window,
            XCB_GC_FOREGROUND.rawValue | XCB_GC_BACKGROUND.rawValue | XCB_GC_FONT.rawValue
                | XCB_GC_GRAPHICS_EXPOSURES.rawValue, drawing)
        xcb_map_window(connection, window)
        // The pointer is not part of the content: it is invisible, in the least relevant corner.
        let nothing = xcb_generate_id(connection)
        xcb_create_pixmap(connection, 1, nothing, root, 1, 1)
        let clearing = xcb_generate_id(connection)
        xcb_create_gc(connection, clearing, nothing, XCB_GC_FOREGROUND.rawValue, [UInt32(0)])
        xcb_poly_fill_rectangle(
            connection, nothing, clearing, 1, [xcb_rectangle_t(x: 0, y: 0, width: 1, height: 1)])
        let cursor = xcb_generate_id(connection)
        xcb_create_cursor(connection, cursor, nothing, nothing, 0, 0, 0, 0, 0, 0, 0, 0)
        xcb_change_window_attributes(connection, window, XCB_CW_CURSOR.rawValue, [cursor])
        xcb_warp_pointer(
            connection, xcb_window_t(XCB_NONE), root, 0, 0, 0, 0, Int16(size.width - 1),
            Int16(size.height - 1))
        font = try Self.readFont(fontID, connection: connection, root: root, context: context)
        try confirm()
    }

    deinit {
        xcb_disconnect(connection)
    }

    // MARK: Drawing

    /// Sends requests, and returns when the server has executed them.
    ///
    /// They appear at once, as in programs that draw into a buffer first: a frame that was captured between two of them
    /// would belong to neither tick.
    ///
    /// With a buffer they are executed there, and then all of it is shown, whatever has changed.
    func draw(_ operations: [ScreenOperation], pictures: Upload?, through buffer: Buffer? = nil) throws {
        xcb_grab_server(connection)
        for operation in operations { draw(operation, pictures, on: buffer?.pixmap ?? window) }
        if let buffer {
            xcb_copy_area(
                connection, buffer.pixmap, window, context, 0, 0, 0, 0, UInt16(size.width), UInt16(size.height))
        }
        xcb_ungrab_server(connection)
        try confirm()
    }

    private func draw(_ operation: ScreenOperation, _ pictures: Upload?, on target: xcb_drawable_t) {
        switch operation {
        case .fill(let x, let y, let width, let height, let colour):
            xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [colour])
            let rectangle = xcb_rectangle_t(x: Int16(x), y: Int16(y), width: UInt16(width), height: UInt16(height))
            xcb_poly_fill_rectangle(connection, target, context, 1, [rectangle])
        case .text(let x, let y, let letters, let colour, let background, let scale):
            guard scale == 1 else { return drawLarge(letters, x: x, y: y, colour, background, scale, on: target) }
            xcb_change_gc(
                connection, context, XCB_GC_FOREGROUND.rawValue | XCB_GC_BACKGROUND.rawValue, [colour, background])
            for start in stride(from: 0, to: letters.count, by: Self.maximumTextLength) {
                let part = letters[start..<min(letters.count, start + Self.maximumTextLength)].map {
                    CChar(bitPattern: $0)
                }
                xcb_image_text_8(
                    connection, UInt8(part.count), target, context, Int16(x + start * font.width),
                    Int16(y + font.ascent), part)
            }
        case .copy(let x, let y, let width, let height, let toX, let toY):
            xcb_copy_area(
                connection, target, target, context, Int16(x), Int16(y), Int16(toX), Int16(toY), UInt16(width),
                UInt16(height))
        case .picture(let index, let x, let y):
            guard let pictures else { return }
            xcb_copy_area(
                connection, pictures.pixmaps[index], target, context, 0, 0, Int16(x), Int16(y),
                UInt16(pictures.size.width), UInt16(pictures.size.height))
        case .part(let index, let x, let y, let width, let height, let toX, let toY):
            guard let pictures else { return }
            xcb_copy_area(
                connection, pictures.pixmaps[index], target, context, Int16(x), Int16(y), Int16(toX), Int16(toY),
                UInt16(width), UInt16(height))
        }
    }

    /// Draws letters larger than the font's, as rectangles.
    private func drawLarge(
        _ letters: [UInt8], x: Int, y: Int, _ colour: UInt32, _ background: UInt32, _ scale: Int,
        on target: xcb_drawable_t
    ) {
        xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [background])
        let all = xcb_rectangle_t(
            x: Int16(x), y: Int16(y), width: UInt16(letters.count * font.width * scale),
            height: UInt16(font.height * scale))
        xcb_poly_fill_rectangle(connection, target, context, 1, [all])
        xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [colour])
        let rectangles = letters.enumerated().flatMap { index, letter in
            font.runs(of: letter).map { run in
                xcb_rectangle_t(
                    x: Int16(x + (index * font.width + run.column) * scale), y: Int16(y + run.row * scale),
                    width: UInt16(run.length * scale), height: UInt16(scale))
            }
        }
        xcb_poly_fill_rectangle(connection, target, context, UInt32(rectangles.count), rectangles)
    }

    /// Waits until the server has executed all requests.
    private func confirm() throws {
        let reply = xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil)
        guard reply != nil else { throw BenchmarkFailure("the X server went away amid the measurement") }
        free(reply)
    }

    /// Creates a buffer for drawing.
    func makeBuffer() throws -> Buffer {
        let pixmap = xcb_generate_id(connection)
        xcb_create_pixmap(connection, Self.depth, pixmap, root, UInt16(size.width), UInt16(size.height))
        try confirm()
        return Buffer(pixmap: pixmap)
    }

    /// Raises the content above the windows of other programs. The parts that they covered must be redrawn.
    func raise() throws {
        xcb_configure_window(
            connection, window, UInt16(XCB_CONFIG_WINDOW_STACK_MODE.rawValue), [UInt32(XCB_STACK_MODE_ABOVE.rawValue)])
        try confirm()
    }

    /// Uploads images to the server, like video players, so that each is shown by one request later.
    func upload(_ pictures: MovingPictures) throws -> Upload {
        // Every server accepts requests of this size.
        let rows = max(1, 200_000 / max(1, pictures.size.width * 4))
        let pixmaps = pictures.pictures.map { picture in
            let pixmap = xcb_generate_id(connection)
            xcb_create_pixmap(
                connection, Self.depth, pixmap, root, UInt16(pictures.size.width), UInt16(pictures.size.height))
            picture.withUnsafeBytes { bytes in
                for y in stride(from: 0, to: pictures.size.height, by: rows) {
                    let height = min(rows, pictures.size.height - y)
                    let part = UnsafeRawBufferPointer(
                        rebasing: bytes[y * pictures.size.width * 4..<(y + height) * pictures.size.width * 4])
                    xcb_put_image(
                        connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), pixmap, context,
                        UInt16(pictures.size.width), UInt16(height), 0, Int16(y), 0, Self.depth,
                        UInt32(part.count), part.baseAddress?.assumingMemoryBound(to: UInt8.self))
                }
            }
            return pixmap
        }
        try confirm()
        return Upload(size: pictures.size, pixmaps: pixmaps)
    }

    /// Removes images from the server.
    func remove(_ upload: Upload) {
        for pixmap in upload.pixmaps { xcb_free_pixmap(connection, pixmap) }
        xcb_flush(connection)
    }

    // MARK: Reading

    /// Returns the pixels of the screen, 0x00RRGGBB, row by row.
    func screen() throws -> [UInt32] {
        try Self.pixels(of: isRootless ? window : root, width: size.width, height: size.height, connection: connection)
    }

    private static func pixels(
        of drawable: xcb_drawable_t, width: Int, height: Int, connection: OpaquePointer
    ) throws -> [UInt32] {
        let cookie = xcb_get_image(
            connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), drawable, 0, 0, UInt16(width), UInt16(height),
            .max)
        guard let reply = xcb_get_image_reply(connection, cookie, nil) else {
            throw BenchmarkFailure("the X server gives no picture of its screen")
        }
        defer { free(reply) }
        let count = Int(xcb_get_image_data_length(reply)) / 4
        guard count == width * height, let data = xcb_get_image_data(reply) else {
            throw BenchmarkFailure("the X server's pixels do not have 32 bits")
        }
        return data.withMemoryRebound(to: UInt32.self, capacity: count) { pixels in
            UnsafeBufferPointer(start: pixels, count: count).map { $0 & 0xFFFFFF }
        }
    }

    /// Lets the server draw each letter invisibly, and reads it back.
    private static func readFont(
        _ font: xcb_font_t, connection: OpaquePointer, root: xcb_window_t, context: xcb_gcontext_t
    ) throws -> FixedFont {
        guard let reply = xcb_query_font_reply(connection, xcb_query_font(connection, font), nil) else {
            throw BenchmarkFailure("the X server lacks the font \"fixed\", which comes with every X server")
        }
        defer { free(reply) }
        let (width, ascent) = (Int(reply.pointee.max_bounds.character_width), Int(reply.pointee.font_ascent))
        let height = ascent + Int(reply.pointee.font_descent)
        let letters = FixedFont.letters.map { CChar(bitPattern: $0) }
        let pixmap = xcb_generate_id(connection)
        xcb_create_pixmap(connection, depth, pixmap, root, UInt16(width * letters.count), UInt16(height))
        defer { xcb_free_pixmap(connection, pixmap) }
        xcb_image_text_8(connection, UInt8(letters.count), pixmap, context, 0, Int16(ascent), letters)
        let pixels = try pixels(of: pixmap, width: width * letters.count, height: height, connection: connection)
        let cells = letters.indices.map { letter in
            (0..<width * height).map { index in
                pixels[index / width * width * letters.count + letter * width + index % width] != 0
            }
        }
        return FixedFont(width: width, height: height, ascent: ascent, cells: cells)
    }
}
