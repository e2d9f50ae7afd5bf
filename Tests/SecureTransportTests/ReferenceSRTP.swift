import RTCShareCOpenSSL

/// SRTP written down from RFC 3711 and RFC 7714 over OpenSSL's ciphers: slow, simple, and independent of libsrtp2. The
/// tests hold it against the RFCs' vectors, and libsrtp2 as this library drives it against the tests' packets.
enum ReferenceSRTP {
    /// AES-128 in counter mode: the keystream over `input`, from a counter block of 16 bytes.
    static func counterMode(key: [UInt8], counter: [UInt8], _ input: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: input.count + 16)
        var length: Int32 = 0
        EVP_EncryptInit_ex(context, key.count == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr(), nil, key, counter)
        EVP_EncryptUpdate(context, &output, &length, input, Int32(input.count))
        return Array(output.prefix(input.count))
    }

    /// AES in Galois/counter mode: ciphertext and tag.
    static func galoisCounterMode(key: [UInt8], nonce: [UInt8], associated: [UInt8], _ input: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: input.count + 16)
        var tag = [UInt8](repeating: 0, count: 16)
        var length: Int32 = 0
        EVP_EncryptInit_ex(context, key.count == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nil, key, nonce)
        EVP_EncryptUpdate(context, nil, &length, associated, Int32(associated.count))
        EVP_EncryptUpdate(context, &output, &length, input, Int32(input.count))
        EVP_EncryptFinal_ex(context, &output[input.count], &length)
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
        return output.prefix(input.count) + tag
    }

    static func hmacSHA1(key: [UInt8], _ input: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        var length: UInt32 = 0
        HMAC(EVP_sha1(), key, Int32(key.count), input, input.count, &digest, &length)
        return digest
    }

    /// A session key by its label, with the key derivation rate zero (RFC 3711 §4.3; a salt of 12 bytes is followed by
    /// zeros, RFC 7714 §11).
    static func derive(masterKey: [UInt8], masterSalt: [UInt8], label: UInt8, byteCount: Int) -> [UInt8] {
        var counter = masterSalt + [UInt8](repeating: 0, count: 16 - masterSalt.count)
        counter[7] ^= label
        return counterMode(key: masterKey, counter: counter, [UInt8](repeating: 0, count: byteCount))
    }

    /// RFC 3711 §4.1.1 and §4.2, for a packet of rollover 0 with a header of 12 bytes.
    static func protectCM(masterKey: [UInt8], masterSalt: [UInt8], rtp: [UInt8]) -> [UInt8] {
        let key = derive(masterKey: masterKey, masterSalt: masterSalt, label: 0, byteCount: 16)
        let authentication = derive(masterKey: masterKey, masterSalt: masterSalt, label: 1, byteCount: 20)
        var counter = derive(masterKey: masterKey, masterSalt: masterSalt, label: 2, byteCount: 14) + [0, 0]
        for index in 0..<4 { counter[4 + index] ^= rtp[8 + index] }
        for index in 0..<2 { counter[12 + index] ^= rtp[2 + index] }
        let encrypted = Array(rtp.prefix(12)) + counterMode(key: key, counter: counter, Array(rtp.dropFirst(12)))
        return encrypted + hmacSHA1(key: authentication, encrypted + [0, 0, 0, 0]).prefix(10)
    }

    /// RFC 7714 §8.1: the nonce of an RTP packet of rollover 0.
    static func nonce(salt: [UInt8], rtp: [UInt8]) -> [UInt8] {
        var nonce = salt
        for index in 0..<4 { nonce[2 + index] ^= rtp[8 + index] }
        for index in 0..<2 { nonce[10 + index] ^= rtp[2 + index] }
        return nonce
    }

    /// RFC 7714 §8, for a packet of rollover 0 with a header of 12 bytes.
    static func protectGCM(masterKey: [UInt8], masterSalt: [UInt8], rtp: [UInt8]) -> [UInt8] {
        let key = derive(masterKey: masterKey, masterSalt: masterSalt, label: 0, byteCount: masterKey.count)
        let salt = derive(masterKey: masterKey, masterSalt: masterSalt, label: 2, byteCount: 12)
        let header = Array(rtp.prefix(12))
        return header
            + galoisCounterMode(
                key: key, nonce: nonce(salt: salt, rtp: rtp), associated: header, Array(rtp.dropFirst(12)))
    }

    /// RFC 7714 §9, for a compound packet with index 1 and a header of 8 bytes.
    static func protectGCM(masterKey: [UInt8], masterSalt: [UInt8], rtcp: [UInt8]) -> [UInt8] {
        let key = derive(masterKey: masterKey, masterSalt: masterSalt, label: 3, byteCount: masterKey.count)
        var nonce = derive(masterKey: masterKey, masterSalt: masterSalt, label: 5, byteCount: 12)
        for index in 0..<4 { nonce[2 + index] ^= rtcp[4 + index] }
        nonce[11] ^= 1
        let trailer: [UInt8] = [0x80, 0, 0, 1]
        let header = Array(rtcp.prefix(8))
        return header
            + galoisCounterMode(key: key, nonce: nonce, associated: header + trailer, Array(rtcp.dropFirst(8)))
            + trailer
    }
}

/// Bytes from hexadecimal digits; blanks are passed over.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
