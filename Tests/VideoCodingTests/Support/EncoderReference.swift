import RTCShareMedia

@testable import RTCShareVideoCoding

extension VP8Encoder {
    /// Returns the planes of the reference frame for the next frame, cropped to the visible area.
    func lastFrame() throws -> [[UInt8]] {
        let size = configuration.size
        var planes: [[UInt8]] = []
        _ = try changeReference { reference -> Void? in
            reference.withPlanes { plane, stride in
                let extent = PixelFormat.i420.planeExtent(planes.count, of: size)
                planes.append(
                    (0..<extent.rows).flatMap { row in
                        UnsafeBufferPointer(start: plane + row * stride, count: extent.rowBytes)
                    })
            }
            return nil
        }
        return planes
    }
}
