import RTCShareCPipeWireVideo
import RTCShareMedia

/// The frames of one PipeWire node, in its memory.
final class NodeStream: Sendable {
    /// The reason why the stream has no frames.
    struct Failure: Error {
        let reason: String
    }

    // Calls that need it hold the lock of the C code, ``locked(_:)``; the pointer lives as long as this object.
    nonisolated(unsafe) private let handle: OpaquePointer
    /// The owner of the node, which is released after the stream was closed, because some portals crash when their
    /// session ends first.
    private let giver: (any AnyObject & Sendable)?
    /// A descriptor that is readable after a change, until ``acknowledge()``.
    let descriptor: Int32

    /// Connects to a node of `giver` through a socket, which is closed with the stream.
    init(
        remote: Int32, node: UInt32, of giver: some AnyObject & Sendable, framesPerSecond: Double
    ) throws(Failure) {
        var problem = [CChar](repeating: 0, count: 256)
        let rate = UInt32(max(1, framesPerSecond.rounded(.up)))
        guard let handle = pipewire_video_connect(remote, node, rate, &problem, problem.count) else {
            throw Failure(reason: String(nullTerminated: problem))
        }
        self.handle = handle
        self.giver = giver
        descriptor = pipewire_video_descriptor(handle)
    }

    /// Connects to a camera through a socket, which is closed with the stream, or through the session's PipeWire if
    /// that is -1: with the first of these formats or, if another program uses the camera already, with its current
    /// one.
    init(camera node: UInt32, _ formats: [CameraFormat], remote: Int32) throws(Failure) {
        var problem = [CChar](repeating: 0, count: 256)
        let codes = formats.map(\.code)
        guard
            let handle = pipewire_camera_connect(
                remote, node, codes, UInt32(codes.count), &problem, problem.count)
        else { throw Failure(reason: String(nullTerminated: problem)) }
        self.handle = handle
        giver = nil
        descriptor = pipewire_video_descriptor(handle)
    }

    deinit {
        pipewire_video_close(handle)
    }

    func locked<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pipewire_video_lock(handle)
        defer { pipewire_video_unlock(handle) }
        return try body()
    }

    /// Acknowledges a change. Throws if the stream has ended.
    func acknowledge() throws(Failure) {
        pipewire_video_take_note(handle)
        try locked { () throws(Failure) in
            guard pipewire_video_get_state(handle) != pipewire_video_ended else {
                throw Failure(reason: String(cString: pipewire_video_problem(handle)))
            }
        }
    }

    /// The frames' size according to their format; nil until it is known.
    var size: PixelSize? {
        locked {
            let format = pipewire_video_get_format(handle)
            return format.generation > 0 ? PixelSize(width: Int(format.width), height: Int(format.height)) : nil
        }
    }

    /// Whether the node has paused the frames.
    var isPaused: Bool { locked { pipewire_video_get_state(handle) == pipewire_video_paused } }

    /// Pauses or resumes the node, which is active at first. A paused node writes no frames.
    func setActive(_ isActive: Bool) { locked { pipewire_video_set_active(handle, isActive) } }

    /// Searches for frames that the node has written but PipeWire has not announced. Call this if the first one is
    /// missing.
    func lookForMissedPictures() { locked { pipewire_video_look_for_missed(handle) } }

    /// Takes the next frame; nil if there is none.
    func take() -> NodePicture? {
        locked {
            var picture = pipewire_picture()
            guard pipewire_video_take(handle, &picture) else { return nil }
            return NodePicture(
                picture, pipewire_video_get_format(handle), pipewire_camera_get_format(handle), of: self)
        }
    }

    /// Returns whether a frame's memory still exists. Needs the lock.
    func has(_ picture: pipewire_picture) -> Bool {
        withUnsafePointer(to: picture) { pipewire_video_has(handle, $0) }
    }

    func giveBack(_ picture: pipewire_picture) {
        locked { withUnsafePointer(to: picture) { pipewire_video_give_back(handle, $0) } }
    }
}

extension CastContent {
    /// The maximum number of rectangles that a node reports for one frame.
    private static let mostParts = 16

    init(_ picture: pipewire_picture, _ format: pipewire_video_format) {
        var damage: [PixelRectangle]?
        if picture.has_damage {
            var parts = [pipewire_rectangle](repeating: pipewire_rectangle(), count: Self.mostParts)
            let count = withUnsafePointer(to: picture) {
                pipewire_picture_damage($0, &parts, UInt32(Self.mostParts))
            }
            if count <= Self.mostParts { damage = parts.prefix(Int(count)).map { PixelRectangle($0) } }
        }
        self.init(
            generation: format.generation,
            size: PixelSize(width: Int(format.width), height: Int(format.height)),
            isRGB: format.pixels == pipewire_pixels_rgbx,
            pixels: picture.pixels.map {
                UnsafeRawBufferPointer(
                    start: $0, count: Int(picture.stride) * (Int(picture.rows) - 1) + Int(format.width) * 4)
            },
            stride: Int(picture.stride), rows: Int(picture.rows),
            sequence: picture.has_sequence ? picture.sequence : nil,
            crop: picture.has_crop ? PixelRectangle(picture.crop) : nil,
            turn: PictureTurn(waylandTransform: picture.transform), damage: damage,
            pointer: picture.has_pointer ? CastPointer(picture) : nil)
    }
}

extension CastPointer {
    fileprivate init(_ picture: pipewire_picture) {
        place =
            picture.pointer_is_visible ? PixelPosition(x: Int(picture.pointer_x), y: Int(picture.pointer_y)) : nil
        guard picture.has_pointer_shape else { return }
        let size = PixelSize(width: Int(picture.pointer_width), height: Int(picture.pointer_height))
        var pixels: [UInt32] = []
        pixels.reserveCapacity(size.area)
        let isRGB = picture.pointer_format == pipewire_pixels_rgbx
        for y in 0..<size.height {
            guard let row = picture.pointer_pixels?.advanced(by: y * Int(picture.pointer_stride)) else { break }
            for x in 0..<size.width {
                let pixel = UnsafeRawPointer(row).loadUnaligned(fromByteOffset: x * 4, as: UInt32.self).littleEndian
                let swapped = pixel & 0xFF00_FF00 | pixel << 16 & 0x00FF_0000 | pixel >> 16 & 0x0000_00FF
                pixels.append(isRGB ? swapped : pixel)
            }
        }
        let hotspot = PixelPosition(x: Int(picture.hotspot_x), y: Int(picture.hotspot_y))
        shape = .some(pixels.isEmpty ? nil : PointerShape(size: size, hotspot: hotspot, pixels: pixels))
    }
}

extension PixelRectangle {
    fileprivate init(_ rectangle: pipewire_rectangle) {
        self.init(
            x: Int(rectangle.x), y: Int(rectangle.y),
            size: PixelSize(width: Int(rectangle.width), height: Int(rectangle.height)))
    }
}
