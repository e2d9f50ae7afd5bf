import RTCShareMedia
import TestSupport

@testable import RTCShareVideoCoding

/// Pictures with text, colour and noise that change at random.
struct ChangingPicture {
    let size: PixelSize
    private var planes: [[UInt8]]

    init(size: PixelSize, seed: UInt64) {
        self.size = size
        planes = [TextPicture(size: size, seed: seed).luma]
        var numbers = SeededNumbers(seed)
        for plane in 1...2 {
            let extent = PixelFormat.i420.planeExtent(plane, of: size)
            planes.append((0..<extent.rows * extent.rowBytes).map { _ in UInt8.random(in: 60...200, using: &numbers) })
        }
    }

    /// Other colours in a rectangle somewhere.
    mutating func change(_ numbers: inout SeededNumbers) {
        for plane in 0..<3 {
            let extent = PixelFormat.i420.planeExtent(plane, of: size)
            let left = Int.random(in: 0..<extent.rowBytes, using: &numbers)
            let top = Int.random(in: 0..<extent.rows, using: &numbers)
            let value = UInt8.random(in: 20...230, using: &numbers)
            for row in top..<min(top + 20, extent.rows) {
                for column in left..<min(left + 30, extent.rowBytes) {
                    planes[plane][row * extent.rowBytes + column] = value &+ UInt8((row ^ column) & 15)
                }
            }
        }
    }

    var i420: PixelBuffer {
        PixelBuffer(size: size, format: .i420) { targets, strides in
            for plane in 0..<3 {
                let extent = PixelFormat.i420.planeExtent(plane, of: size)
                for row in 0..<extent.rows {
                    let source = planes[plane][row * extent.rowBytes..<(row + 1) * extent.rowBytes]
                    for (column, value) in source.enumerated() {
                        targets[plane][row * strides[plane] + column] = value
                    }
                }
            }
        }
    }
}
