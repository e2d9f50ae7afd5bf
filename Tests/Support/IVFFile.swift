internal import Foundation
package import RTCShareMedia

/// IVF files of VP8, which vpxdec, FFmpeg and browsers' tools read.
package enum IVFFile {
    private static let ticksPerSecond = 90_000

    /// Writes frames with their times, which must increase.
    package static func write(
        _ frames: [(data: [UInt8], timestamp: Duration)], size: PixelSize, to path: String
    ) throws {
        var bytes = Data("DKIF".utf8)
        bytes.append(littleEndian: [0, 32] as [UInt16])
        bytes += Data("VP80".utf8)
        bytes.append(littleEndian: [size.width, size.height].map(UInt16.init))
        bytes.append(littleEndian: [ticksPerSecond, 1, frames.count, 0].map(UInt32.init))
        for frame in frames {
            bytes.append(littleEndian: [UInt32(frame.data.count)])
            bytes.append(littleEndian: [UInt64((frame.timestamp / .seconds(1) * Double(ticksPerSecond)).rounded())])
            bytes += frame.data
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}

extension Data {
    mutating func append(littleEndian values: [some FixedWidthInteger]) {
        for value in values { Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) } }
    }
}
