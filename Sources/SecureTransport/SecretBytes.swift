internal import RTCShareCOpenSSL

/// Memory that holds a secret: it is wiped before it is given back, by `OPENSSL_cleanse`, which no compiler leaves out.
final class SecretBytes {
    private let memory: UnsafeMutableRawBufferPointer

    /// Zeros, to be written over.
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

    /// Lends the secret for as long as `body` runs.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(memory))
    }

    /// Lends the memory to write to for as long as `body` runs.
    func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        body(memory)
    }
}

extension SecretBytes: Equatable {
    /// In a time that does not depend on where two secrets of one length differ.
    static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.byteCount == right.byteCount
            && CRYPTO_memcmp(left.memory.baseAddress, right.memory.baseAddress, left.byteCount) == 0
    }
}
