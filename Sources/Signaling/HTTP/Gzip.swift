internal import RTCShareCZ

/// The gzip format (RFC 1952).
enum Gzip {
    /// Compresses bytes as much as possible.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        // 15 bits of window, and 16 for the header of gzip.
        let result = deflateInit2_(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib refuses its own constants, or there is no memory")
        defer { deflateEnd(&stream) }
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            let bound = Int(deflateBound(&stream, uLong(input.count)))
            return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(bound))
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib needs more room than it says")
                count = bound - Int(stream.avail_out)
            }
        }
    }
}
