internal import Glibc
internal import RTCShareCPNG
internal import RTCShareCYUV
package import RTCShareMedia

/// Writes images as PNG files with libpng.
package enum PNGWriter {
    /// Writes 8-bit RGB. Chroma is BT.601, limited range, as in ``PixelFormat``. An incomplete file is removed.
    package static func write(_ picture: any PixelPlanes, to path: String) throws(MediaFileError) {
        let pixels: [UInt8]
        do throws(VideoCodingError) {
            pixels = try rgb(picture)
        } catch {
            throw .unsuitablePicture(path: path, reason: "\(error)")
        }
        var image = header(of: picture)
        defer { png_image_free(&image) }
        guard let file = fopen(path, "wbe") else {
            throw .cannotOpen(path: path, reason: systemMessage(errno, path: path))
        }
        errno = 0
        let isWritten = png_image_write_to_stdio(&image, file, 0, pixels, 0, nil) != 0 && fflush(file) == 0
        let number = errno
        fclose(file)
        guard isWritten else {
            // A device, such as /dev/full, is not removed.
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { unlink(path) }
            throw .cannotWrite(path: path, reason: number == 0 ? message(of: image) : systemMessage(number))
        }
    }

    /// Returns the file's bytes, compressed for speed rather than for size.
    package static func bytes(_ picture: any PixelPlanes) throws(VideoCodingError) -> [UInt8] {
        let pixels = try rgb(picture)
        var image = header(of: picture)
        image.flags = png_uint_32(PNG_IMAGE_FLAG_FAST)
        defer { png_image_free(&image) }
        // More than zlib needs for pixels that it can't compress, and libpng for the parts of the file.
        let capacity = pixels.count + pixels.count / 64 + picture.size.height + 4096
        var isWritten = false
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { bytes, count in
            var length = png_alloc_size_t(capacity)
            isWritten = png_image_write_to_memory(&image, bytes.baseAddress, &length, 0, pixels, 0, nil) != 0
            count = isWritten ? Int(length) : 0
        }
        guard isWritten else {
            throw .codecFailed(library: "libpng", operation: "writing an image", reason: message(of: image))
        }
        return bytes
    }

    private static func header(of picture: any PixelPlanes) -> png_image {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        image.width = png_uint_32(clamping: picture.size.width)
        image.height = png_uint_32(clamping: picture.size.height)
        image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        return image
    }

    private static func message(of image: png_image) -> String {
        withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Returns rows of red, green and blue without padding.
    private static func rgb(_ picture: any PixelPlanes) throws(VideoCodingError) -> [UInt8] {
        // The other formats have no direct conversion to RGB's byte order.
        let source =
            [.i420, .bgra].contains(picture.format)
            ? picture : try VideoConverter().convert(picture, to: picture.size)
        let width = Int32(clamping: source.size.width)
        let height = Int32(clamping: source.size.height)
        return try source.withPlanePointers { (planes) throws(VideoCodingError) in
            var pixels = [UInt8](repeating: 0, count: source.size.area * 3)
            let code = pixels.withUnsafeMutableBufferPointer { pixels in
                source.format == .bgra
                    ? ARGBToRAW(planes.first.first, planes.first.stride, pixels.baseAddress, width * 3, width, height)
                    : I420ToRAW(
                        planes.first.first, planes.first.stride, planes.second.first, planes.second.stride,
                        planes.third.first, planes.third.stride, pixels.baseAddress, width * 3, width, height)
            }
            try checkYUV("conversion to RGB", code)
            return pixels
        }
    }
}
