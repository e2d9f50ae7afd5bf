import RTCShareMedia
import RTCShareWireFormat

/// A frame in a message: everything except its pixels.
struct PictureDescription: Hashable {
    let timestamp: Duration
    let rotation: VideoRotation
    let format: PixelFormat
    let size: PixelSize
    /// The bytes from one row to the next of each plane, if the whole frame follows. The last row has no padding.
    let strides: [Int]
    /// The parts that follow, each with its planes one after the other and without padding, on whole chroma samples;
    /// the rest equals the frame before. Nil if the whole frame follows, plane by plane.
    let parts: [PixelRectangle]?

    /// The maximum number of bytes after the pixels of a row.
    static let maximumPadding = 4096

    /// Returns the number of bytes of a plane, if the whole frame follows.
    func byteCount(ofPlane plane: Int) -> Int {
        let extent = format.planeExtent(plane, of: size)
        return strides[plane] * (extent.rows - 1) + extent.rowBytes
    }

    /// Returns the number of bytes of a part.
    func byteCount(of part: PixelRectangle) -> Int {
        (0..<format.planeCount).reduce(0) { sum, plane in
            let extent = format.planeExtent(plane, of: part.size)
            return sum + extent.rowBytes * extent.rows
        }
    }

    /// The number of bytes that follow.
    var payloadLength: Int {
        guard let parts else { return (0..<format.planeCount).reduce(0) { $0 + byteCount(ofPlane: $1) } }
        return parts.reduce(0) { $0 + byteCount(of: $1) }
    }
}

extension PictureDescription {
    func append(to body: inout [UInt8]) {
        body.append(bigEndian: timestamp.wholeNanoseconds)
        body.append(bigEndian: UInt16(rotation.rawValue))
        body.append(format.code)
        body.append(bigEndian: UInt16(clamping: size.width))
        body.append(bigEndian: UInt16(clamping: size.height))
        for plane in 0..<format.planeCount { body.append(bigEndian: UInt32(clamping: strides[plane])) }
        guard let parts else { return body.append(0xFF) }
        body.append(UInt8(clamping: parts.count))
        for part in parts {
            for number in [part.x, part.y, part.size.width, part.size.height] {
                body.append(bigEndian: UInt16(clamping: number))
            }
        }
    }
}

extension PictureDescription {
    init(_ reader: inout ByteReader) throws {
        let timestamp = Duration.nanoseconds(Int64(bitPattern: try reader.readUInt64()))
        let turn = Int(try reader.readUInt16())
        let code = try reader.readUInt8()
        guard let rotation = VideoRotation(rawValue: turn), let format = PixelFormat(code: code) else {
            throw BroadcastError.network("a frame of format \(code), turned by \(turn) degrees, is not known")
        }
        let size = PixelSize(width: Int(try reader.readUInt16()), height: Int(try reader.readUInt16()))
        var strides: [Int] = []
        for _ in 0..<format.planeCount { strides.append(Int(try reader.readUInt32())) }
        try Self.check(size: size, format: format, strides: strides)
        let count = try reader.readUInt8()
        var parts: [PixelRectangle]?
        if count != 0xFF {
            guard count <= ChangedParts.most else {
                throw BroadcastError.network(
                    "a frame with \(count) parts, of which at most \(ChangedParts.most) are taken")
            }
            var read: [PixelRectangle] = []
            for _ in 0..<count { read.append(try Self.part(&reader, of: size, format: format)) }
            parts = read
        }
        self.init(
            timestamp: timestamp, rotation: rotation, format: format, size: size, strides: strides, parts: parts)
    }

    /// Throws if no memory could hold the frame.
    static func check(size: PixelSize, format: PixelFormat, strides: [Int]) throws(BroadcastError) {
        let sides = 1...VideoFrame.maximumSide
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw .network("a frame of \(size), and each side has 1 to \(VideoFrame.maximumSide) pixels")
        }
        var sum = 0
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            guard (extent.rowBytes...extent.rowBytes + maximumPadding).contains(strides[plane]) else {
                throw .network(
                    "a stride of \(strides[plane]) bytes for rows of \(extent.rowBytes), with at most \(maximumPadding) more"
                )
            }
            sum += strides[plane] * extent.rows
        }
        // Padding must not cause the rejection of a frame that fits without it.
        guard sum <= BroadcastMessage.maximumPicture + maximumPadding * VideoFrame.maximumSide,
            size.area * 4 <= BroadcastMessage.maximumPicture
        else { throw .network("a frame of \(size) is larger than 7680x4320") }
    }

    private static func part(
        _ reader: inout ByteReader, of size: PixelSize, format: PixelFormat
    ) throws -> PixelRectangle {
        let (x, y) = (Int(try reader.readUInt16()), Int(try reader.readUInt16()))
        let part = PixelRectangle(
            x: x, y: y, size: PixelSize(width: Int(try reader.readUInt16()), height: Int(try reader.readUInt16())))
        guard part.size.area > 0, format.aligned(part, in: size) == part else {
            throw BroadcastError.network("a part \(part.size)+\(x)+\(y) of a frame of \(size)")
        }
        return part
    }
}
