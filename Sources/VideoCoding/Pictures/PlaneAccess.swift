internal import RTCShareCYUV
internal import RTCShareMedia

/// A plane's first byte and stride in the types of the C libraries.
struct PlanePointer {
    let first: UnsafePointer<UInt8>
    let stride: Int32
}

/// A writable plane.
struct WritablePlanePointer {
    let first: UnsafeMutablePointer<UInt8>
    let stride: Int32

    init(_ plane: UnsafeMutableRawBufferPointer, stride: Int) throws(VideoCodingError) {
        guard let base = plane.baseAddress, let stride = Int32(exactly: stride) else { throw .emptyPicture }
        self.first = base.assumingMemoryBound(to: UInt8.self)
        self.stride = stride
    }
}

extension PixelPlanes {
    /// Calls `body` with the planes after a check that each is as long as its size and format require. A `PixelPlanes`
    /// can come from outside the library, and C would read past the end of one with a wrong size.
    func withPlanePointers<Result>(
        _ body: (_ planes: PlanePointers) throws(VideoCodingError) -> Result
    ) throws(VideoCodingError) -> Result {
        guard size.width > 0, size.height > 0 else { throw .emptyPicture }
        let size = size
        let format = format
        let outcome = withPlanes { set -> Swift.Result<Result, VideoCodingError> in
            do throws(VideoCodingError) {
                return .success(try body(try PlanePointers(set, size: size, format: format)))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

/// Up to three planes that are borrowed for one call.
struct PlanePointers {
    let first: PlanePointer
    let second: PlanePointer
    let third: PlanePointer

    /// Creates the planes. Formats of fewer than three planes repeat their last one.
    init(_ set: borrowing PlaneSet, size: PixelSize, format: PixelFormat) throws(VideoCodingError) {
        let count = format.planeCount
        guard set.planes.count >= count, set.strides.count >= count else {
            throw .planesTooShort(size: size, format: format)
        }
        func plane(_ wanted: Int) throws(VideoCodingError) -> PlanePointer {
            let index = min(wanted, count - 1)
            let extent = format.planeExtent(index, of: size)
            guard let base = set.planes[index].baseAddress, let stride = Int32(exactly: set.strides[index]),
                Int(stride) >= extent.rowBytes,
                set.planes[index].count >= Int(stride) * (extent.rows - 1) + extent.rowBytes
            else { throw .planesTooShort(size: size, format: format) }
            return PlanePointer(first: base.assumingMemoryBound(to: UInt8.self), stride: stride)
        }
        first = try plane(0)
        second = try plane(1)
        third = try plane(2)
    }
}

extension PixelBufferPool {
    /// Returns an I420 buffer that `fill` has written.
    func makeI420(
        size: PixelSize,
        _ fill: (
            _ luma: WritablePlanePointer, _ blue: WritablePlanePointer, _ red: WritablePlanePointer
        ) throws(VideoCodingError) -> Void
    ) throws(VideoCodingError) -> PixelBuffer {
        var failure: VideoCodingError?
        let buffer = makeBuffer(size: size, format: .i420) { planes, strides in
            do throws(VideoCodingError) {
                try fill(
                    WritablePlanePointer(planes[0], stride: strides[0]),
                    WritablePlanePointer(planes[1], stride: strides[1]),
                    WritablePlanePointer(planes[2], stride: strides[2]))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return buffer
    }
}

/// Throws an error for a code of libyuv.
func checkYUV(_ operation: String, _ code: Int32) throws(VideoCodingError) {
    guard code == 0 else { throw .conversionFailed(operation: operation, code: Int(code)) }
}

extension PlanePointer {
    /// Returns the sum of the squared differences of a block and that at the same place of another plane.
    func sumOfSquaredDifferences(to other: PlanePointer, x: Int, y: Int, width: Int, height: Int) -> UInt64 {
        let strides = (Int(stride), Int(other.stride))
        return Self.sumOfSquaredDifferences(
            first + y * strides.0 + x, other.first + y * strides.1 + x, strides, width: width, height: height)
    }

    /// Returns the sum of the squared differences of two blocks. libyuv's function is slow for rows of less than 32
    /// samples.
    static func sumOfSquaredDifferences(
        _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ strides: (Int, Int), width: Int, height: Int
    ) -> UInt64 {
        var sum: UInt64 = 0
        for row in 0..<height {
            let (one, other) = (one + row &* strides.0, other + row &* strides.1)
            var squares: UInt32 = 0
            for column in 0..<width {
                let difference = Int32(one[column]) &- Int32(other[column])
                squares &+= UInt32(bitPattern: difference &* difference)
            }
            sum &+= UInt64(squares)
        }
        return sum
    }
}
