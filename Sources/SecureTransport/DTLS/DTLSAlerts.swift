internal import RTCShareCOpenSSL
internal import RTCShareWireFormat

/// Sends and receives DTLS alerts after the handshake, in records of the epoch that the handshake started.
///
/// OpenSSL uses some forty kilobytes for a connection until its end, half of them for handshake messages that can't
/// arrive any more. After the handshake, a connection only needs to close. So this type keeps only the record layer's
/// keys, for the suites with AES in Galois/counter mode, which WebRTC peers negotiate (RFC 6347 §4.1, RFC 5246 §6.3,
/// RFC 5288 §3).
struct DTLSAlerts {
    /// An authenticated alert from the peer.
    struct Alert: Hashable {
        let isFatal: Bool
        let code: UInt8
    }

    private let algorithm: OpaquePointer
    /// The client's key, the server's key, the client's salt and the server's salt (RFC 5246 §6.3).
    private let block: SecretBytes
    private let keyByteCount: Int
    private let role: DTLSRole
    /// The next sequence number. OpenSSL has numbered the records of the handshake, a few for each transmission of a
    /// flight.
    private var sequenceNumber: UInt64 = 1 << 32

    private static let contentType: UInt8 = 21
    private static let version: UInt16 = 0xFEFD
    private static let epoch: UInt16 = 1
    private static let headerByteCount = 13
    private static let nonceByteCount = 8
    private static let tagByteCount = 16
    private static let saltByteCount = 4
    /// The body of the shortest record in AES-GCM: an explicit nonce and a tag.
    static let shortestRecordByteCount = nonceByteCount + tagByteCount

    /// Creates the keys of a connection after its handshake. Returns nil if they are not for AES-GCM, or not available.
    init?(of ssl: OpaquePointer, role: DTLSRole) {
        guard SSL_version(ssl) == Int32(DTLS1_2_VERSION), let suite = SSL_get_current_cipher(ssl),
            let digest = SSL_CIPHER_get_handshake_digest(suite), let session = SSL_get_session(ssl)
        else { return nil }
        switch SSL_CIPHER_get_cipher_nid(suite) {
        case NID_aes_128_gcm: (keyByteCount, algorithm) = (16, EVP_aes_128_gcm())
        case NID_aes_256_gcm: (keyByteCount, algorithm) = (32, EVP_aes_256_gcm())
        default: return nil
        }
        self.role = role
        let block = SecretBytes(byteCount: 2 * (keyByteCount + Self.saltByteCount))
        self.block = block
        let master = SecretBytes(byteCount: Int(SSL_MAX_MASTER_KEY_LENGTH))
        let masterByteCount = master.withUnsafeMutableBytes { memory in
            SSL_SESSION_get_master_key(session, memory.bindMemory(to: UInt8.self).baseAddress, memory.count)
        }
        var randoms = [UInt8](repeating: 0, count: 2 * Int(SSL3_RANDOM_SIZE))
        let isWhole = randoms.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            let size = buffer.count / 2
            return SSL_get_server_random(ssl, start, size) == size
                && SSL_get_client_random(ssl, start + size, size) == size
        }
        let isExpanded = master.withUnsafeMutableBytes { master in
            block.withUnsafeMutableBytes { block in
                copenssl_tls12_prf(
                    EVP_MD_get0_name(digest), master.bindMemory(to: UInt8.self).baseAddress, masterByteCount,
                    "key expansion", &randoms, randoms.count, block.bindMemory(to: UInt8.self).baseAddress, block.count)
            }
        }
        guard isWhole, isExpanded == 1 else { return nil }
    }

    /// Returns a datagram with an alert.
    mutating func datagram(_ alert: Alert) -> [UInt8]? {
        defer { sequenceNumber += 1 }
        let number = UInt64(Self.epoch) << 48 | sequenceNumber
        let nonce = Self.bytes(of: number)
        var message: [UInt8] = [alert.isFatal ? 2 : 1, alert.code]
        guard let tag = apply(encrypting: true, nonce, number, &message, tag: nil) else { return nil }
        let body = nonce + message + tag
        return [Self.contentType] + Self.bytes(of: Self.version) + nonce + Self.bytes(of: UInt16(body.count)) + body
    }

    /// Returns the alerts in a datagram. Other records and unauthentic ones are ignored.
    func alerts(in datagram: RawSpan) -> [Alert] {
        var alerts: [Alert] = []
        var reader = ByteReader(datagram)
        while reader.remaining >= Self.headerByteCount {
            guard let type = try? reader.readUInt8(), let version = try? reader.readUInt16(),
                let number = try? reader.readUInt64(), let length = try? reader.readUInt16(),
                let body = try? reader.readArray(Int(length))
            else { break }
            guard type == Self.contentType, version == Self.version, number >> 48 == UInt64(Self.epoch),
                body.count == Self.nonceByteCount + 2 + Self.tagByteCount
            else { continue }
            var message = Array(body[Self.nonceByteCount..<Self.nonceByteCount + 2])
            let isAuthentic =
                apply(
                    encrypting: false, Array(body.prefix(Self.nonceByteCount)), number, &message,
                    tag: Array(body.suffix(Self.tagByteCount))) != nil
            if isAuthentic { alerts.append(Alert(isFatal: message[0] == 2, code: message[1])) }
        }
        return alerts
    }

    /// Encrypts a message in place, or decrypts an authentic one, and returns its tag.
    private func apply(
        encrypting: Bool, _ nonce: [UInt8], _ number: UInt64, _ message: inout [UInt8], tag: [UInt8]?
    ) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let additional =
            Self.bytes(of: number) + [Self.contentType] + Self.bytes(of: Self.version)
            + Self.bytes(of: UInt16(message.count))
        var tag = tag ?? [UInt8](repeating: 0, count: Self.tagByteCount)
        var done: Int32 = 0
        let count = Int32(message.count)
        // A sender encrypts with its own key, a receiver decrypts with its peer's.
        let isClients = encrypting == (role == .client)
        let isReady = block.withUnsafeBytes { block in
            let keys = block.bindMemory(to: UInt8.self)
            let key = keys.baseAddress.map { $0 + (isClients ? 0 : keyByteCount) }
            let salt = 2 * keyByteCount + (isClients ? 0 : Self.saltByteCount)
            var vector = keys[salt..<salt + Self.saltByteCount] + nonce
            defer { OPENSSL_cleanse(&vector, vector.count) }
            return EVP_CipherInit_ex(context, algorithm, nil, key, vector, encrypting ? 1 : 0) == 1
        }
        guard isReady,
            EVP_CipherUpdate(context, nil, &done, additional, Int32(additional.count)) == 1,
            message.withUnsafeMutableBufferPointer({
                EVP_CipherUpdate(context, $0.baseAddress, &done, $0.baseAddress, count)
            }) == 1,
            encrypting || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        var rest = [UInt8](repeating: 0, count: Self.tagByteCount)
        guard EVP_CipherFinal_ex(context, &rest, &done) == 1,
            !encrypting || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        return tag
    }

    /// Returns the bytes of an integer in network byte order.
    private static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
