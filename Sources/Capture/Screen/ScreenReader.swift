import RTCShareCXCB
import RTCShareMedia

/// Reads pixels from the X server: whole rows go directly to their place, written by the server if memory is shared
/// with it, and other parts through scratch memory.
struct ScreenReader {
    private let connection: XConnection
    /// The memory for parts before they are copied to a frame.
    private var scratch: SharedSegment?
    /// The requests without an answer, in memory that is reused.
    private var requests: [Request] = []

    private struct Request {
        let part: PixelRectangle
        let sequence: UInt32
        /// The memory that the server writes; nil if it writes in place.
        let source: UnsafeMutableRawPointer?
    }

    init(connection: XConnection) {
        self.connection = connection
    }

    /// Releases memory before a change of the frames' size.
    mutating func reset() {
        scratch = nil
    }

    /// Reads parts of an area, in its own pixels, into a frame of it. Returns false if `signal` was raised.
    mutating func read(
        _ parts: [PixelRectangle], of pixels: ScreenGeometry.Pixels, into picture: ScreenPicture, signal: StopSignal?
    ) throws(CaptureError) -> Bool {
        let area = pixels.area
        guard let segment = picture.segment else {
            return try readWithoutSharing(parts, of: pixels, into: picture, signal: signal)
        }
        if scratch == nil, parts.contains(where: { $0.size.width != area.size.width }) {
            scratch = try SharedSegment(connection: connection, byteCount: area.size.area * 4)
        }
        var offset = 0
        requests.removeAll(keepingCapacity: true)
        for part in parts {
            let isWholeRows = part.size.width == area.size.width
            let (target, position) = isWholeRows ? (segment, part.y * picture.stride) : (scratch, offset)
            guard let target, position + part.size.area * 4 <= target.memory.count else {
                return try readWithoutSharing(parts, of: pixels, into: picture, signal: signal)
            }
            let cookie = xcb_shm_get_image(
                connection.handle, pixels.drawable, Int16(clamping: area.x + part.x + pixels.inset),
                Int16(clamping: area.y + part.y + pixels.inset), UInt16(clamping: part.size.width),
                UInt16(clamping: part.size.height), .max, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue),
                target.identifier, UInt32(position))
            let source = isWholeRows ? nil : target.memory.baseAddress?.advanced(by: position)
            requests.append(Request(part: part, sequence: cookie.sequence, source: source))
            if !isWholeRows { offset += part.size.area * 4 }
        }
        return try collect(requests, signal: signal) { (request) throws(CaptureError) in
            guard
                try connection.reply(
                    "ShmGetImage", request.sequence, as: xcb_shm_get_image_reply_t.self, signal: signal) != nil
            else { return false }
            if let source = request.source {
                picture.write(request.part, from: source, stride: request.part.size.width * 4)
            }
            return true
        }
    }

    private func readWithoutSharing(
        _ parts: [PixelRectangle], of pixels: ScreenGeometry.Pixels, into picture: ScreenPicture, signal: StopSignal?
    ) throws(CaptureError) -> Bool {
        let corner = (x: pixels.area.x + pixels.inset, y: pixels.area.y + pixels.inset)
        let requests = parts.map { part in
            let cookie = xcb_get_image(
                connection.handle, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), pixels.drawable,
                Int16(clamping: corner.x + part.x), Int16(clamping: corner.y + part.y),
                UInt16(clamping: part.size.width), UInt16(clamping: part.size.height), .max)
            return Request(part: part, sequence: cookie.sequence, source: nil)
        }
        return try collect(requests, signal: signal) { (request) throws(CaptureError) in
            guard
                let reply = try connection.reply(
                    "GetImage", request.sequence, as: xcb_get_image_reply_t.self, signal: signal)
            else { return false }
            let length = Int(xcb_get_image_data_length(reply.pointer))
            guard length >= request.part.size.area * 4, let bytes = xcb_get_image_data(reply.pointer) else {
                throw .requestRefused(request: "GetImage (too little data)", code: 0)
            }
            picture.write(request.part, from: bytes, stride: request.part.size.width * 4)
            return true
        }
    }

    /// Processes each answer. If one fails, or the signal is raised, those after it are discarded.
    private func collect(
        _ requests: [Request], signal: StopSignal?, take: (Request) throws(CaptureError) -> Bool
    ) throws(CaptureError) -> Bool {
        var taken = 0
        defer {
            for request in requests.dropFirst(taken) { xcb_discard_reply(connection.handle, request.sequence) }
        }
        for request in requests {
            taken += 1
            guard try take(request) else { return false }
        }
        return true
    }
}
