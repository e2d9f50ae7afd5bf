import CXCB
import CYUV
import Media

/// Takes pictures of a part of a screen, and keeps up with what happens to it. Lives on one thread.
struct ScreenGrabber {
    private let connection: XConnection
    private let wanted: DisplaySource.Area
    private let pool = FramePool()
    private let geometryEvents: Set<UInt8>
    private var area: PixelRectangle
    private var pointer: PointerOverlay?
    private var segment: SharedSegment?
    private var sharesMemory = true

    /// Nil where `signal` was raised.
    init?(connection: XConnection, wanted: DisplaySource.Area, signal: StopSignal?) throws(CaptureError) {
        self.connection = connection
        self.wanted = wanted
        // Watch first, look then: no change falls between.
        geometryEvents = connection.watchGeometry()
        guard let area = try wanted.rectangle(on: connection, signal: signal) else { return nil }
        self.area = area
        pointer = try PointerOverlay(connection: connection, signal: signal)
    }

    /// The picture as it is now; nil where `signal` was raised.
    mutating func grab(signal: StopSignal?) throws(CaptureError) -> VideoFrame? {
        let events = connection.drainEvents()
        pointer?.take(events: events)
        if !events.isDisjoint(with: geometryEvents) {
            guard try locate(signal: signal) else { return nil }
        }
        do throws(CaptureError) {
            return try picture(signal: signal)
        } catch {
            // The screen may have shrunk since the events were read; where it has, what is asked for has changed.
            guard case .requestRefused = error else { throw error }
            let before = area
            guard try locate(signal: signal) else { return nil }
            guard area != before else { throw error }
            return try picture(signal: signal)
        }
    }

    /// Finds the wanted part anew; false where `signal` was raised.
    private mutating func locate(signal: StopSignal?) throws(CaptureError) -> Bool {
        guard let area = try wanted.rectangle(on: connection, signal: signal) else { return false }
        self.area = area
        return true
    }

    private mutating func picture(signal: StopSignal?) throws(CaptureError) -> VideoFrame? {
        try prepareSegment()
        var question = pointer?.ask()
        defer { if let question { pointer?.withdraw(question) } }
        var isStopped = false
        var timestamp = Duration.zero
        let (area, connection, segment) = (area, connection, segment)
        var overlay = pointer
        let buffer = try pool.buffer(size: area.size, format: .bgra) { planes, strides throws(CaptureError) in
            let got = try Self.read(area, connection, segment, into: planes[0], stride: strides[0], signal: signal)
            timestamp = monotonicNow()
            guard got else {
                isStopped = true
                return
            }
            if let asked = question {
                question = nil
                try overlay?.draw(asked, into: planes[0], stride: strides[0], area: area, signal: signal)
            }
        }
        pointer = overlay
        if isStopped || signal?.isRaised == true { return nil }
        return VideoFrame(buffer: buffer, timestamp: timestamp)
    }

    private mutating func prepareSegment() throws(CaptureError) {
        let byteCount = area.size.area * 4
        guard sharesMemory, (segment?.memory.count ?? 0) < byteCount else { return }
        segment = nil
        segment = try SharedSegment(connection: connection, byteCount: byteCount)
        sharesMemory = segment != nil
    }

    /// Has the server write the pixels, and copies them; false where `signal` was raised.
    private static func read(
        _ area: PixelRectangle, _ connection: XConnection, _ segment: SharedSegment?,
        into plane: UnsafeMutableRawBufferPointer, stride: Int, signal: StopSignal?
    ) throws(CaptureError) -> Bool {
        let (x, y) = (Int16(clamping: area.x), Int16(clamping: area.y))
        let (width, height) = (UInt16(clamping: area.size.width), UInt16(clamping: area.size.height))
        let format = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
        if let segment {
            let cookie = xcb_shm_get_image(
                connection.handle, connection.root, x, y, width, height, .max, format, segment.identifier, 0)
            guard
                try connection.reply(
                    "ShmGetImage", cookie.sequence, as: xcb_shm_get_image_reply_t.self, signal: signal) != nil
            else { return false }
            try copy(UnsafeRawBufferPointer(segment.memory), area.size, plane, stride)
            return true
        }
        let cookie = xcb_get_image(connection.handle, format, connection.root, x, y, width, height, .max)
        guard
            let reply = try connection.reply(
                "GetImage", cookie.sequence, as: xcb_get_image_reply_t.self, signal: signal)
        else { return false }
        let pixels = UnsafeRawBufferPointer(
            start: xcb_get_image_data(reply.pointer), count: Int(xcb_get_image_data_length(reply.pointer)))
        try copy(pixels, area.size, plane, stride)
        return true
    }

    private static func copy(
        _ source: UnsafeRawBufferPointer, _ size: PixelSize, _ plane: UnsafeMutableRawBufferPointer, _ stride: Int
    ) throws(CaptureError) {
        guard source.count >= size.area * 4 else {
            throw .requestRefused(request: "GetImage (too little data)", code: 0)
        }
        CopyPlane(
            source.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(size.width * 4),
            plane.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(stride), Int32(size.width * 4),
            Int32(size.height))
    }
}
