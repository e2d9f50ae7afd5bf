internal import Foundation
package import RTCShareMedia

/// Writes I420 frames to a YUV4MPEG2 file.
package final class Y4MWriter {
    private let file: FileHandle

    /// Creates the file for frames of `size`, which are played at `framesPerSecond`.
    package init(path: String, size: PixelSize, framesPerSecond: Int) throws {
        let header = "YUV4MPEG2 W\(size.width) H\(size.height) F\(framesPerSecond):1 Ip A1:1 C420jpeg\n"
        try Data(header.utf8).write(to: URL(fileURLWithPath: path))
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
    }

    /// Appends a frame.
    package func write(_ picture: any PixelPlanes) throws {
        var bytes = Data("FRAME\n".utf8)
        picture.withPlanes { set in
            for plane in 0..<3 {
                let extent = PixelFormat.i420.planeExtent(plane, of: picture.size)
                for row in 0..<extent.rows {
                    let start = row * set.strides[plane]
                    bytes.append(contentsOf: set.planes[plane][start..<start + extent.rowBytes])
                }
            }
        }
        try file.write(contentsOf: bytes)
    }

    /// Closes the file.
    package func close() throws {
        try file.close()
    }
}
