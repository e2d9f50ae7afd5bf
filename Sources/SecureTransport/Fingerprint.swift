internal import RTCShareCOpenSSL

/// A certificate's fingerprint, the value of `a=fingerprint` (RFC 8122 §5).
package struct Fingerprint: Hashable, Sendable {
    /// A hash function that is strong enough to authenticate a certificate through SDP.
    package enum Algorithm: String, CaseIterable, Comparable, Sendable {
        /// SHA-256, which every WebRTC peer supports (RFC 8827 §6.5).
        case sha256 = "sha-256"
        /// SHA-384.
        case sha384 = "sha-384"
        /// SHA-512.
        case sha512 = "sha-512"

        /// The length of a digest in bytes.
        package var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }

        /// Whether `left` is the weaker hash function.
        package static func < (left: Algorithm, right: Algorithm) -> Bool { left.byteCount < right.byteCount }

        var digest: OpaquePointer? {
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }
    }

    /// The hash function.
    package let algorithm: Algorithm
    /// The digest of the certificate in DER.
    package let bytes: [UInt8]

    /// Creates a fingerprint from a digest, whose length must match the algorithm.
    package init(algorithm: Algorithm, bytes: [UInt8]) throws(FingerprintError) {
        guard bytes.count == algorithm.byteCount else {
            throw .wrongLength(algorithm: algorithm, byteCount: bytes.count)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Parses the attribute's value, `sha-256 AB:CD:…`, with upper-case or lower-case letters.
    package init(_ text: some StringProtocol) throws(FingerprintError) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2 else { throw .malformed(offset: 0) }
        try self.init(algorithm: String(parts[0]), hexadecimal: String(parts[1]))
    }

    /// Parses the two parts of the attribute's value.
    package init(algorithm name: String, hexadecimal: String) throws(FingerprintError) {
        let name = name.lowercased()
        guard let algorithm = Algorithm(rawValue: name) else {
            throw Self.weakAlgorithms.contains(name) ? .tooWeak(algorithm: name) : .unknownAlgorithm(name)
        }
        try self.init(algorithm: algorithm, bytes: Self.parse(hexadecimal))
    }

    /// Creates the fingerprint of a certificate in DER.
    package init(ofCertificate derBytes: [UInt8], algorithm: Algorithm = .sha256) {
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        // SHA-2 of bytes in memory only fails without memory. The result then matches no peer's fingerprint.
        EVP_Digest(derBytes, derBytes.count, &digest, nil, algorithm.digest, nil)
        self.algorithm = algorithm
        self.bytes = digest
    }

    /// Whether two fingerprints are equal. The time of the comparison does not depend on the position of a difference.
    package func matches(_ other: Fingerprint) -> Bool {
        guard algorithm == other.algorithm, bytes.count == other.bytes.count else { return false }
        return CRYPTO_memcmp(bytes, other.bytes, bytes.count) == 0
    }

    /// The hash functions that are too weak (RFC 8122 §5 forbids MD2 and MD5; SHA-1 has collisions).
    private static let weakAlgorithms: Set<String> = ["md2", "md5", "sha-1", "sha-224"]

    private static func parse(_ text: String) throws(FingerprintError) -> [UInt8] {
        var bytes: [UInt8] = []
        var digits = 0
        var value: UInt8 = 0
        for (offset, character) in text.utf8.enumerated() {
            if digits == 2 {
                guard character == UInt8(ascii: ":") else { throw .malformed(offset: offset) }
                digits = 0
                continue
            }
            guard let digit = hexadecimalValue(character) else { throw .malformed(offset: offset) }
            value = value << 4 | digit
            digits += 1
            if digits == 2 { bytes.append(value) }
        }
        guard digits == 2 else { throw .malformed(offset: text.utf8.count) }
        return bytes
    }

    private static func hexadecimalValue(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Fingerprint {
    /// The digest in the format of SDP: upper-case pairs of digits with colons between.
    package var hexadecimal: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 3)
        for byte in bytes {
            if !text.isEmpty { text.append(UInt8(ascii: ":")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Fingerprint: CustomStringConvertible {
    /// The value of `a=fingerprint`.
    package var description: String { "\(algorithm.rawValue) \(hexadecimal)" }
}

extension Fingerprint.Algorithm: CustomStringConvertible {
    /// The name in SDP.
    package var description: String { rawValue }
}

extension [Fingerprint] {
    /// Whether a certificate matches these fingerprints.
    ///
    /// Only the strongest hash function counts, and one of its fingerprints must match (RFC 8122 §5).
    func accept(certificate derBytes: [UInt8]) -> Bool {
        guard let strongest = map(\.algorithm).max() else { return false }
        let actual = Fingerprint(ofCertificate: derBytes, algorithm: strongest)
        var found = false
        for expected in self where expected.matches(actual) { found = true }
        return found
    }
}

/// The reason why a text is not a usable fingerprint.
package enum FingerprintError: Error, Hashable, Sendable {
    /// The text is not pairs of hexadecimal digits with colons between. `offset` counts bytes of the digest's text.
    case malformed(offset: Int)
    /// The hash function is known but too weak to authenticate a certificate.
    case tooWeak(algorithm: String)
    /// The hash function is unknown.
    case unknownAlgorithm(String)
    /// The digest does not have the length of the hash function.
    case wrongLength(algorithm: Fingerprint.Algorithm, byteCount: Int)
}

extension FingerprintError: CustomStringConvertible {
    /// The error and an acceptable value.
    package var description: String {
        switch self {
        case .malformed(let offset):
            "a fingerprint is a hash name and pairs of hexadecimal digits with colons between; wrong at byte \(offset)"
        case .tooWeak(let algorithm):
            "\(algorithm) is too weak for a certificate fingerprint: sha-256, sha-384 or sha-512 is needed"
        case .unknownAlgorithm(let name):
            "hash function \(name.debugDescription) is not known: sha-256, sha-384 or sha-512 is needed"
        case .wrongLength(let algorithm, let byteCount):
            "a \(algorithm) fingerprint has \(algorithm.byteCount) bytes, not \(byteCount)"
        }
    }
}
