internal import Glibc
internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// OpenSSL's AES for libsrtp2: a `srtp_cipher_type_t` beside each that libsrtp2 was built with.
///
/// Debian builds libsrtp2 on Mozilla's NSS, which looks the key up in a table, under locks, for every packet, and keeps a
/// session and an object of PKCS #11 for every key: some thirty kilobytes a connection, and most of what protecting a
/// packet takes. A context of OpenSSL is a kilobyte that belongs to its stream alone. What SRTP makes of the cipher
/// (indices, nonces, key derivation, replay protection) stays libsrtp2's.
///
/// libsrtp2 knows ciphers by numbers, one list for the process. These have numbers of their own in it, which the policies
/// of this library's sessions name; who else uses libsrtp2 in the process has its ciphers as they were.
struct SRTPCipher {
    /// libsrtp2's number for such a cipher, by which it knows what to do with it.
    private let identifier: Int32
    private let keyByteCount: Int
    /// What libsrtp2 hands over behind the key: in counter mode the salt, which the cipher is to apply; of GCM's, which
    /// libsrtp2 applies itself, the cipher has no need.
    private let saltByteCount: Int
    /// What libsrtp2 finds in its list.
    private let listed = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
    /// What a context of it says that it is: the same under libsrtp2's own number.
    private let type = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
    /// OpenSSL's, fetched once for all contexts.
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

    /// The number in libsrtp2's list of what does as its cipher `identifier` does.
    static func number(for identifier: srtp_cipher_type_id_t) -> srtp_cipher_type_id_t { firstNumber | identifier }

    /// Far from libsrtp2's own, which are small.
    private static let firstNumber: srtp_cipher_type_id_t = 0x5254_0000

    /// Those that the profiles and their key derivation use. `nonisolated(unsafe)`: made once, and never changed or freed.
    private nonisolated(unsafe) static let all = [
        SRTPCipher(SRTP_AES_GCM_128, keyByteCount: 16, saltByteCount: 12, vector: .galoisCounter128),
        SRTPCipher(SRTP_AES_GCM_256, keyByteCount: 32, saltByteCount: 12, vector: .galoisCounter256),
        SRTPCipher(SRTP_AES_ICM_128, keyByteCount: 16, saltByteCount: 14, vector: .counter128),
        SRTPCipher(SRTP_AES_ICM_256, keyByteCount: 32, saltByteCount: 14, vector: .counter256),
    ]

    /// Adds these to libsrtp2's list, once it is initialized. It tries each on our vectors first.
    static func addAll() -> srtp_err_status_t {
        for cipher in all {
            guard cipher.algorithm != nil else { return srtp_err_status_init_fail }
            // Where there is nothing under a number, this adds to the list.
            let status = srtp_replace_cipher_type(cipher.listed, cipher.listed.pointee.id)
            guard status == srtp_err_status_ok else { return status }
        }
        return srtp_err_status_ok
    }

    /// What stands behind a `srtp_cipher_t`.
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

    // MARK: Life

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
            // Which wipes the key.
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

    // MARK: A packet

    /// Sets GCM's nonce of twelve bytes.
    private static func setNonce(
        _ state: UnsafeMutableRawPointer?, _ nonce: UnsafeMutablePointer<UInt8>?, _ direction: srtp_cipher_direction_t
    ) -> srtp_err_status_t {
        guard let state = State.of(state) else { return srtp_err_status_bad_param }
        let encrypts: Int32 = direction == srtp_direction_decrypt ? 0 : 1
        return status(EVP_CipherInit_ex(state.pointee.context, nil, nil, nil, nonce, encrypts))
    }

    /// Sets counter mode's block, which the salt is added to.
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

    /// Encrypts in place, or in counter mode decrypts.
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

    /// Ends the encryption: its tag.
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

    /// Decrypts in place what ends in a tag, and checks that.
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
