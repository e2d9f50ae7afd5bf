internal import RTCShareCOpenSSL

/// The only access to OpenSSL's error queue of the thread.
enum OpenSSLError {
    /// Removes the errors of earlier calls, so that later ones belong to the next call.
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue. Returns the first reason, which is the cause, in OpenSSL's words.
    static func takeReason() -> String {
        var first: String?
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if first == nil { first = reason(of: code) }
        }
        return first ?? "no reason given"
    }

    private static func reason(of code: UInt) -> String {
        if let text = ERR_reason_error_string(code) { return String(cString: text) }
        return "OpenSSL error 0x" + String(code, radix: 16)
    }
}

/// An owner of an `X509`.
struct X509Handle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of a pointer.
    init?(adopting pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { X509_free(pointer) }

    /// The certificate in DER; empty only if there is no memory left.
    var derBytes: [UInt8] {
        let length = i2d_X509(pointer, nil)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var end = buffer.baseAddress
            count = max(0, Int(i2d_X509(pointer, &end)))
        }
    }
}

/// An owner of an `EVP_PKEY`.
struct KeyHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of a pointer.
    init?(adopting pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}

/// An owner of a memory `BIO`, for reading and writing PEM.
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    /// Creates an empty `BIO` for writing.
    init?() {
        guard let pointer = BIO_new(BIO_s_mem()) else { return nil }
        self.pointer = pointer
    }

    /// Creates a `BIO` for reading a copy of `text`.
    init?(_ text: String) {
        guard let pointer = BIO_new(BIO_s_mem()) else { return nil }
        var text = text
        let written = text.withUTF8 { BIO_write(pointer, $0.baseAddress, Int32(clamping: $0.count)) }
        guard Int(written) == text.utf8.count, written > 0 else {
            BIO_free(pointer)
            return nil
        }
        self.pointer = pointer
    }

    deinit { BIO_free(pointer) }

    /// Returns all bytes that were written.
    consuming func readAll() -> String {
        let size = Int(clamping: BIO_ctrl_pending(pointer))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Int(BIO_read(pointer, buffer.baseAddress, Int32(clamping: size))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
