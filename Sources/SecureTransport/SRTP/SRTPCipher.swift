internal import Glibc
internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// OpenSSL's AES for libsrtp2: an additional `srtp_cipher_type_t` for each of libsrtp2's own.
///
/// Debian builds libsrtp2 with Mozilla's NSS. For every packet NSS looks the key up in a table, with locks, and for
/// every key it keeps a session and a PKCS #11 object: some thirty kilobytes per connection, and most of the time that
/// a packet's protection takes. An OpenSSL context is a kilobyte that belongs only to its stream. The use of the cipher
/// (indices, nonces, key derivation, replay protection) remains in libsrtp2.
///
/// libsrtp2 identifies ciphers by numbers in one list per process. These ciphers have their own numbers in it, which
/// the policies of this library's sessions use. Other users of libsrtp2 in the process keep their ciphers.
struct SRTPCipher {
    /// libsrtp2's number of the cipher, which determines how libsrtp2 uses it.
    private let identifier: Int32
    private let keyByteCount: Int
    /// The number of salt bytes after the key. In counter mode the cipher applies the salt. In GCM libsrtp2 applies it
    /// itself.
    private let saltByteCount: Int
    /// The entry in libsrtp2's list.
    private let listed = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
    /// The type of the cipher's contexts, with libsrtp2's own number.
    private let type = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
    /// OpenSSL's algorithm, fetched once for all contexts.
    private let algorithm: OpaquePointer?

    private init(_ identifier: Int32, keyByteCount: Int, saltByteCount: Int, vector: SRTPCipherVector) {
        self.identifier = identifier
        self.keyByteCount = keyByteCount
        self.saltByteCount = saltByteCount
        let isGCM = identifier == SRTP_AES_GCM_128 || identifier == SRTP_AES_GCM_256
        algorithm = EVP_CIPHER_fetch(nil, "AES-\(keyByteCount * 8)-\(isGCM ? "GCM" : "CTR")", nil)
        type.initialize(to: Self.functions(identifier, isGCM: isGCM, vector: vector))
        listed.initialize(to: type.pointee)
        listed.pointee.id = Self.number(for: type.pointee.id)
    }

    /// Returns the number in libsrtp2's list of the replacement for its cipher `identifier`.
    static func number(for identifier: srtp_cipher_type_id_t) -> srtp_cipher_type_id_t { firstNumber | identifier }

    /// The first number, far from libsrtp2's own, which are small.
    private static let firstNumber: srtp_cipher_type_id_t = 0x5254_0000

    /// The ciphers of the profiles and their key derivation. `nonisolated(unsafe)`: made once, and never changed or
    /// freed.
    private nonisolated(unsafe) static let all = [
        SRTPCipher(SRTP_AES_GCM_128, keyByteCount: 16, saltByteCount: 12, vector: .galoisCounter128),
        SRTPCipher(SRTP_AES_GCM_256, keyByteCount: 32, saltByteCount: 12, vector: .galoisCounter256),
        SRTPCipher(SRTP_AES_ICM_128, keyByteCount: 16, saltByteCount: 14, vector: .counter128),
        SRTPCipher(SRTP_AES_ICM_256, keyByteCount: 32, saltByteCount: 14, vector: .counter256),
    ]

    /// Adds the ciphers to libsrtp2's list after its initialization. It tests each with our vectors first.
    static func addAll() -> srtp_err_status_t {
        for cipher in all {
            guard cipher.algorithm != nil else { return srtp_err_status_init_fail }
            // If the number is unused, this adds to the list.
            let status = srtp_replace_cipher_type(cipher.listed, cipher.listed.pointee.id)
            guard status == srtp_err_status_ok else { return status }
        }
        return srtp_err_status_ok
    }

    /// The state behind an `srtp_cipher_t`.
    private struct State {
        let context: OpaquePointer
        let algorithm: OpaquePointer?
        let keyByteCount: Int
        let tagByteCount: Int32
        let isCounter: Bool
        /// The salt of counter mode, as the upper bytes of a block.
        var offset = (UInt64.zero, UInt64.zero)

        static func of(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
            pointer?.assumingMemoryBound(to: State.self)
        }
    }

    private static func functions(
        _ identifier: Int32, isGCM: Bool, vector: SRTPCipherVector
    ) -> srtp_cipher_type_t {
        var type = srtp_cipher_type_t()
        type.id = UInt32(identifier)
        type.description = UnsafePointer(strdup("AES of OpenSSL"))
        type.test_data = vector.testCase
        type.alloc = { cipher, keyByteCount, tagByteCount in
            SRTPCipher.make(cipher, keyByteCount: Int(keyByteCount), tagByteCount: tagByteCount)
        }
        type.dealloc = { SRTPCipher.free($0) }
        type.`init` = { SRTPCipher.setKey($0, $1) }
        type.set_aad = { SRTPCipher.authenticate($0, $1, count: $2) }
        type.get_tag = { SRTPCipher.takeTag($0, into: $1, count: $2) }
        type.encrypt = { SRTPCipher.apply($0, $1, count: $2) }
        if isGCM {
            type.set_iv = { SRTPCipher.setNonce($0, $1, $2) }
            type.decrypt = { SRTPCipher.open($0, $1, count: $2) }
        } else {
            type.set_iv = { state, block, _ in SRTPCipher.setCounter(state, block) }
            type.decrypt = type.encrypt
        }
        return type
    }

    // MARK: Life cycle

    private static func make(
        _ result: UnsafeMutablePointer<UnsafeMutablePointer<srtp_cipher_t>?>?, keyByteCount: Int, tagByteCount: Int32
    ) -> srtp_err_status_t {
        guard let cipher = all.first(where: { $0.keyByteCount + $0.saltByteCount == keyByteCount }) else {
            return srtp_err_status_bad_param
        }
        guard let context = EVP_CIPHER_CTX_new() else { return srtp_err_status_alloc_fail }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(
            to:
                State(
                    context: context, algorithm: cipher.algorithm, keyByteCount: cipher.keyByteCount,
                    tagByteCount: tagByteCount, isCounter: cipher.saltByteCount == 14))
        let made = UnsafeMutablePointer<srtp_cipher_t>.allocate(capacity: 1)
        made.initialize(
            to: srtp_cipher_t(
                type: cipher.type, state: UnsafeMutableRawPointer(state), key_len: Int32(keyByteCount),
                algorithm: cipher.identifier))
        result?.pointee = made
        return srtp_err_status_ok
    }

    private static func free(_ cipher: UnsafeMutablePointer<srtp_cipher_t>?) -> srtp_err_status_t {
        guard let cipher else { return srtp_err_status_bad_param }
        if let state = State.of(cipher.pointee.state) {
            // This also wipes the key.
            EVP_CIPHER_CTX_free(state.pointee.context)
            state.pointee.offset = (0, 0)
            state.deallocate()
        }
        cipher.deallocate()
        return srtp_err_status_ok
    }

    private static func setKey(_ state: UnsafeMutableRawPointer?, _ key: UnsafePointer<UInt8>?) -> srtp_err_status_t {
        guard let state = State.of(state), let key else { return srtp_err_status_bad_param }
        if state.pointee.isCounter {
            let salt = UnsafeRawBufferPointer(start: key + state.pointee.keyByteCount, count: 14)
            withUnsafeMutableBytes(of: &state.pointee.offset) { $0.copyMemory(from: salt) }
        }
        return status(EVP_CipherInit_ex(state.pointee.context, state.pointee.algorithm, nil, key, nil, 1))
    }

    // MARK: Packets

    /// Sets GCM's nonce of twelve bytes.
    private static func setNonce(
        _ state: UnsafeMutableRawPointer?, _ nonce: UnsafeMutablePointer<UInt8>?, _ direction: srtp_cipher_direction_t
    ) -> srtp_err_status_t {
        guard let state = State.of(state) else { return srtp_err_status_bad_param }
        let encrypts: Int32 = direction == srtp_direction_decrypt ? 0 : 1
        return status(EVP_CipherInit_ex(state.pointee.context, nil, nil, nil, nonce, encrypts))
    }

    /// Sets counter mode's block, which is combined with the salt.
    private static func setCounter(
        _ state: UnsafeMutableRawPointer?, _ block: UnsafeMutablePointer<UInt8>?
    ) -> srtp_err_status_t {
        guard let state = State.of(state), let block else { return srtp_err_status_bad_param }
        let bytes = UnsafeRawPointer(block)
        var counter = state.pointee.offset
        counter.0 ^= bytes.loadUnaligned(as: UInt64.self)
        counter.1 ^= bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return withUnsafeBytes(of: counter) { counter in
            status(
                EVP_CipherInit_ex(
                    state.pointee.context, nil, nil, nil, counter.bindMemory(to: UInt8.self).baseAddress, 1))
        }
    }

    private static func authenticate(
        _ state: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, count: UInt32
    ) -> srtp_err_status_t {
        guard let state = State.of(state) else { return srtp_err_status_bad_param }
        var done: Int32 = 0
        return status(EVP_CipherUpdate(state.pointee.context, nil, &done, bytes, Int32(clamping: count)))
    }

    /// Encrypts in place, or decrypts in counter mode.
    private static func apply(
        _ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?
    ) -> srtp_err_status_t {
        guard let state = State.of(state), let count else { return srtp_err_status_bad_param }
        var done: Int32 = 0
        let wanted = Int32(clamping: count.pointee)
        guard EVP_CipherUpdate(state.pointee.context, bytes, &done, bytes, wanted) == 1, done == wanted else {
            return srtp_err_status_cipher_fail
        }
        return srtp_err_status_ok
    }

    /// Ends the encryption and returns the tag.
    private static func takeTag(
        _ state: UnsafeMutableRawPointer?, into tag: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?
    ) -> srtp_err_status_t {
        guard let state = State.of(state), let tag, let count else { return srtp_err_status_bad_param }
        let (context, size) = (state.pointee.context, state.pointee.tagByteCount)
        var done: Int32 = 0
        guard EVP_CipherFinal_ex(context, tag, &done) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, size, tag) == 1
        else { return srtp_err_status_cipher_fail }
        count.pointee = UInt32(size)
        return srtp_err_status_ok
    }

    /// Decrypts data with a tag at its end in place, and checks the tag.
    private static func open(
        _ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?
    ) -> srtp_err_status_t {
        guard let state = State.of(state), let bytes, let count else { return srtp_err_status_bad_param }
        let (context, size) = (state.pointee.context, state.pointee.tagByteCount)
        guard count.pointee >= UInt32(size) else { return srtp_err_status_bad_param }
        let wanted = Int32(clamping: count.pointee) - size
        var done: Int32 = 0
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, size, bytes + Int(wanted)) == 1,
            EVP_CipherUpdate(context, bytes, &done, bytes, wanted) == 1, done == wanted
        else { return srtp_err_status_cipher_fail }
        var rest: Int32 = 0
        guard EVP_CipherFinal_ex(context, bytes + Int(wanted), &rest) == 1 else { return srtp_err_status_auth_fail }
        count.pointee = UInt32(wanted)
        return srtp_err_status_ok
    }

    private static func status(_ result: Int32) -> srtp_err_status_t {
        result == 1 ? srtp_err_status_ok : srtp_err_status_cipher_fail
    }
}
