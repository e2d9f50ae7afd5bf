package import RTCShareMedia

/// Writes I420 pictures to a YUV4MPEG2 file. Used from one thread at a time.
package final class Y4MWriter {
    private let file: BufferedFile
    private let size: PixelSize

    /// Makes the file, or empties the one that is there, for pictures of `size`, `framesPerSecond` of them a second.
    package init(path: String, size: PixelSize, framesPerSecond: Int) throws(MediaFileError) {
        file = try BufferedFile(writing: path)
        self.size = size
        try file.write(Array("YUV4MPEG2 W\(size.width) H\(size.height) F\(framesPerSecond):1 Ip A1:1 C420jpeg\n".utf8))
    }

    /// Appends a picture, which has to be I420 of the file's size.
    package func write(_ picture: any PixelPlanes) throws(MediaFileError) {
        guard picture.format == .i420, picture.size == size else {
            throw .unsuitablePicture(
                path: file.path, reason: "it takes \(size) in i420, not \(picture.size) in \(picture.format)")
        }
        try file.write(Array("FRAME\n".utf8))
        let outcome = picture.withPlanes { set -> Result<Void, MediaFileError> in
            do throws(MediaFileError) {
                for plane in 0..<3 {
                    let extent = PixelFormat.i420.planeExtent(plane, of: size)
                    for row in 0..<extent.rows {
                        let start = row * set.strides[plane]
                        try file.write(
                            UnsafeRawBufferPointer(rebasing: set.planes[plane][start..<start + extent.rowBytes]))
                    }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Writes out what is buffered and closes the file.
    package func close() throws(MediaFileError) {
        try file.close()
    }
}
