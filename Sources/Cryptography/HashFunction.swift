private import RTCShareCOpenSSL

/// A failure inside libcrypto; it means that this build of the library lacks or forbids the algorithm.
package enum CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The hash function is not available, such as MD5 under a FIPS policy.
    case unavailable(HashFunction)

    /// The missing function and a remedy.
    package var description: String {
        switch self {
        case .unavailable(let function):
            "OpenSSL does not offer \(function.rawValue); check the system's cryptographic policy"
        }
    }
}

/// A hash function that the protocols of this project name.
package enum HashFunction: String, Hashable, Sendable, CaseIterable {
    /// MD5, only for the long-term keys of STUN (RFC 8489 §9.2.2).
    case md5 = "MD5"
    /// SHA-1, only inside the MESSAGE-INTEGRITY of STUN (RFC 8489 §14.5).
    case sha1 = "SHA-1"
    /// SHA-256.
    case sha256 = "SHA-256"

    /// Bytes in a digest.
    package var digestByteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        }
    }

    /// Returns the digest of `bytes`.
    package func digest(of bytes: RawSpan) throws(CryptographyError) -> [UInt8] {
        let (result, digest) = fill { target, count in
            unsafe bytes.withUnsafeBytes { source in
                unsafe EVP_Digest(source.baseAddress, source.count, target, &count, implementation, nil) == 1
            }
        }
        guard result else { throw .unavailable(self) }
        return digest
    }

    /// Returns the keyed digest of `message` (HMAC, RFC 2104).
    package func authenticationCode(key: RawSpan, message: RawSpan) throws(CryptographyError) -> [UInt8] {
        guard let keyByteCount = Int32(exactly: key.byteCount) else { throw .unavailable(self) }
        let (result, digest) = fill { target, count in
            unsafe key.withUnsafeBytes { key in
                unsafe message.withUnsafeBytes { message in
                    // HMAC treats a null key as the key of the previous call, so that an empty key needs an address.
                    let address = unsafe key.baseAddress ?? UnsafeRawPointer(target)
                    let bytes = unsafe message.bindMemory(to: UInt8.self)
                    return unsafe HMAC(
                        implementation, address, keyByteCount, bytes.baseAddress, bytes.count, target, &count) != nil
                }
            }
        }
        guard result else { throw .unavailable(self) }
        return digest
    }

    /// Calls `body` with memory for one digest, and returns its result and the bytes that it wrote.
    private func fill(
        _ body: (_ target: UnsafeMutablePointer<UInt8>, _ count: inout UInt32) -> Bool
    ) -> (succeeded: Bool, digest: [UInt8]) {
        var succeeded = false
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: digestByteCount) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            unsafe target.initialize(repeating: 0, count: digestByteCount)
            initialized = digestByteCount
            var count: UInt32 = 0
            succeeded = unsafe body(target, &count) && Int(count) == digestByteCount
        }
        return (succeeded, digest)
    }

    /// OpenSSL's implementation, which libcrypto owns and never frees.
    private var implementation: OpaquePointer? {
        switch self {
        case .md5: unsafe EVP_md5()
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        }
    }
}

/// Whether two byte strings are equal. The time of the comparison depends only on their lengths, as tags, passwords and
/// tokens require.
package func isEqualInConstantTime(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    guard left.byteCount > 0 else { return true }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}
