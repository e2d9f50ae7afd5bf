import RTCShareCPNG

/// Reads a PNG file back with libpng.
enum PNGWriterTestReader {
    struct Failure: Error {}

    /// Red, green and blue of the left upper pixel.
    static func firstPixel(_ path: String) throws -> [UInt8] {
        Array(try pixels { png_image_begin_read_from_file(&$0, path) }[..<3])
    }

    /// All of a file's pixels, from the bytes of the file.
    static func pixels(_ bytes: [UInt8]) throws -> [UInt8] {
        try pixels { png_image_begin_read_from_memory(&$0, bytes, bytes.count) }
    }

    private static func pixels(_ begin: (inout png_image) -> Int32) throws -> [UInt8] {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        guard begin(&image) != 0 else { throw Failure() }
        image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        var pixels = [UInt8](repeating: 0, count: Int(image.width * image.height * 3))
        guard png_image_finish_read(&image, nil, &pixels, 0, nil) != 0 else { throw Failure() }
        return pixels
    }
}
