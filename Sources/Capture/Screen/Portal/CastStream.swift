import Foundation
import RTCShareCPipeWireVideo
import RTCShareLocks
import RTCShareMedia

/// The pictures of one node of PipeWire, in its memory.
final class CastStream: Sendable {
    /// Why there are none.
    struct Failure: Error {
        let reason: String
    }

    // What the C asks for, one thread at a time, is what the lock sees to; the pointer lives as long as this object.
    nonisolated(unsafe) private let handle: OpaquePointer
    private let turn = Locked(())
    /// Can be read when ``iterate()`` has something to do.
    let descriptor: Int32

    /// Connects to a node by a socket, which is closed with it at last, or to the session's own PipeWire where that is nil.
    init(remote: Int32?, node: UInt32, framesPerSecond: Double) throws(Failure) {
        var problem = [CChar](repeating: 0, count: 256)
        let rate = UInt32(max(1, framesPerSecond.rounded(.up)))
        guard let handle = pipewire_video_connect(remote ?? -1, node, rate, &problem, problem.count) else {
            let words = problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw Failure(reason: String(decoding: words, as: UTF8.self))
        }
        self.handle = handle
        descriptor = pipewire_video_descriptor(handle)
    }

    deinit {
        pipewire_video_close(handle)
    }

    /// Does what is to be done; throws where the stream has ended.
    func iterate() throws(Failure) {
        try turn.withLock { _ throws(Failure) in
            pipewire_video_iterate(handle)
            guard pipewire_video_get_state(handle) != pipewire_video_ended else {
                throw Failure(reason: String(cString: pipewire_video_problem(handle)))
            }
        }
    }

    /// The pictures' size, as their format says; nil until it is known.
    var size: PixelSize? {
        turn.withLock { _ in
            let format = pipewire_video_get_format(handle)
            return format.generation > 0 ? PixelSize(width: Int(format.width), height: Int(format.height)) : nil
        }
    }

    /// The next picture; nil where there is none.
    func take() -> CastPicture? {
        var picture = pipewire_picture()
        let format = turn.withLock { _ -> pipewire_video_format? in
            pipewire_video_take(handle, &picture) ? pipewire_video_get_format(handle) : nil
        }
        return format.map { CastPicture(picture, $0, of: self) }
    }

    fileprivate func has(_ picture: pipewire_picture) -> Bool {
        turn.withLock { _ in withUnsafePointer(to: picture) { pipewire_video_has(handle, $0) } }
    }

    fileprivate func giveBack(_ picture: pipewire_picture) {
        turn.withLock { _ in withUnsafePointer(to: picture) { pipewire_video_give_back(handle, $0) } }
    }
}

/// A picture that a node of PipeWire has given, in the node's memory, which it has back when this is let go.
final class CastPicture {
    private let picture: pipewire_picture
    private let stream: CastStream
    /// What is in it.
    let content: CastContent

    fileprivate init(_ picture: pipewire_picture, _ format: pipewire_video_format, of stream: CastStream) {
        self.picture = picture
        self.stream = stream
        content = CastContent(picture, format)
    }

    deinit {
        stream.giveBack(picture)
    }

    /// Whether its memory is there still: with another format it goes, within ``CastStream/iterate()``.
    var isThere: Bool { stream.has(picture) }
}

extension CastContent {
    /// The most rectangles that a node tells of one picture.
    private static let mostParts = 16

    fileprivate init(_ picture: pipewire_picture, _ format: pipewire_video_format) {
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
            picture.pointer_is_visible ? PixelPlace(x: Int(picture.pointer_x), y: Int(picture.pointer_y)) : nil
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
        let hotspot = PixelPlace(x: Int(picture.hotspot_x), y: Int(picture.hotspot_y))
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
