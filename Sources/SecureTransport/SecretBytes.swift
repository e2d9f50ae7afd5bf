internal import RTCShareCOpenSSL

/// Memory for a secret. `OPENSSL_cleanse`, which no compiler removes, wipes it before it is freed.
final class SecretBytes {
    private let memory: UnsafeMutableRawBufferPointer

    /// Creates zeros, to be overwritten.
    init(byteCount: Int) {
        memory = .allocate(byteCount: byteCount, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        wipe()
        memory.deallocate()
    }

    var byteCount: Int { memory.count }

    /// Overwrites the secret with zeros.
    func wipe() {
        OPENSSL_cleanse(memory.baseAddress, memory.count)
    }

    /// Calls `body` with the secret.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(memory))
    }

    /// Calls `body` with the memory for writing.
    func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        body(memory)
    }
}

extension SecretBytes: Equatable {
    /// Whether two secrets are equal. For equal lengths, the time does not depend on the position of a difference.
    static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.byteCount == right.byteCount
            && CRYPTO_memcmp(left.memory.baseAddress, right.memory.baseAddress, left.byteCount) == 0
    }
}
