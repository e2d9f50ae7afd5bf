internal import RTCShareCSRTP

/// Protects the packets that this side sends, in place (RFC 3711 §3.3). There is one per direction and transport, for
/// any number of sources.
///
/// One thread at a time can use it. It allocates nothing per packet. The first packet of a synchronization source
/// creates its stream.
package final class SRTPSender {
    /// The size of the replay window, in packets. A packet that is retransmitted with its old number must be within
    /// this window behind the newest one.
    package static let replayWindow = 1024

    /// The profile.
    package let profile: SRTPProfile
    private let handle: SRTPHandle

    /// Creates a sender with its keys.
    ///
    /// - Parameters:
    /// - profile: The profile of the packets.
    /// - masterKey: The key and salt for this direction, ``SRTPKeyingMaterial/local``.
    /// - allowsRepeatedTransmission: Whether a sequence number can be protected twice, for a retransmission without
    ///   RTX. Such a packet must be identical, including its header extensions: the index is the nonce, and two
    ///   different packets with one nonce reveal the authentication key of GCM (RFC 7714 §8.1). If a header extension
    ///   changes with each transmission, resend the bytes that were protected first.
    package init(
        profile: SRTPProfile, masterKey: SRTPMasterKey, allowsRepeatedTransmission: Bool = false
    ) throws(SRTPError) {
        self.profile = profile
        handle = try SRTPHandle(
            profile: profile, masterKey: masterKey, direction: ssrc_any_outbound,
            allowsRepeatedTransmission: allowsRepeatedTransmission)
    }

    /// Protects the RTP packet in the first `count` bytes of `memory`, which must have room for
    /// ``SRTPProfile/rtpOverhead`` more. Returns the new length.
    package func protectRTP(_ memory: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        try handle.protect(memory, count: count, minimum: 12, overhead: profile.rtpOverhead, with: srtp_protect)
    }

    /// Protects the compound RTCP packet in the first `count` bytes of `memory`, which must have room for
    /// ``SRTPProfile/rtcpOverhead`` more. Returns the new length.
    package func protectRTCP(_ memory: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        try handle.protect(memory, count: count, minimum: 8, overhead: profile.rtcpOverhead, with: srtp_protect_rtcp)
    }

    /// Protects an RTP packet in an array, which grows. If the capacity is reserved, it allocates nothing.
    package func protectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
        try protect(&packet, overhead: profile.rtpOverhead, protectRTP)
    }

    /// Protects a compound RTCP packet in an array, which grows.
    package func protectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
        try protect(&packet, overhead: profile.rtcpOverhead, protectRTCP)
    }

    private func protect(
        _ packet: inout [UInt8], overhead: Int,
        _ body: (UnsafeMutableRawBufferPointer, Int) throws(SRTPError) -> Int
    ) throws(SRTPError) {
        let count = packet.count
        for _ in 0..<overhead { packet.append(0) }
        let result = packet.withUnsafeMutableBytes { memory in
            Result { () throws(SRTPError) in try body(memory, count) }
        }
        packet.removeLast(packet.count - ((try? result.get()) ?? count))
        _ = try result.get()
    }
}

/// Authenticates and decrypts the packets that the peer sends, in place (RFC 3711 §3.3), with replay protection. There
/// is one per direction and transport, for ``maximumStreams`` sources at a time.
///
/// One thread at a time can use it. No input traps, whatever its length. A packet that is not accepted causes an error,
/// which the caller counts. Its bytes are then unusable.
package final class SRTPReceiver {
    /// The maximum number of sources at a time. libsrtp2 keeps a stream of half a kilobyte for each source of an
    /// authentic packet, and searches all of them for each packet, and a peer can use any number of sources.
    package static let maximumStreams = 64

    /// The profile.
    package let profile: SRTPProfile
    private let handle: SRTPHandle
    /// The sources with streams in libsrtp2.
    private var streams: [Stream] = []
    private var packetsAccepted: UInt64 = 0

    private struct Stream {
        let source: UInt32
        /// The position of the newest packet among all accepted ones.
        var newest: UInt64
    }

    /// Creates a receiver with its keys, ``SRTPKeyingMaterial/remote``.
    package init(profile: SRTPProfile, masterKey: SRTPMasterKey) throws(SRTPError) {
        self.profile = profile
        handle = try SRTPHandle(
            profile: profile, masterKey: masterKey, direction: ssrc_any_inbound, allowsRepeatedTransmission: false)
    }

    /// Authenticates and decrypts an SRTP packet. Returns the length of the RTP packet at the start of `memory`.
    ///
    /// - Parameters:
    /// - memory: The packet.
    /// - isInUse: Whether a source's stream should be kept if there are too many.
    package func unprotectRTP(
        _ memory: UnsafeMutableRawBufferPointer, sparing isInUse: (UInt32) -> Bool = { _ in false }
    ) throws(SRTPError) -> Int {
        guard Self.isWholeRTP(UnsafeRawBufferPointer(memory), trailer: profile.rtpOverhead) else { throw .malformed }
        let count = try handle.unprotect(memory, with: srtp_unprotect)
        recordStream(ofPacket: memory, sourceOffset: 8, sparing: isInUse)
        return count
    }

    /// Authenticates and decrypts an SRTCP packet. Returns the length of the RTCP packet at the start of `memory`. The
    /// parameters are those of RTP. The source is that of the first packet.
    package func unprotectRTCP(
        _ memory: UnsafeMutableRawBufferPointer, sparing isInUse: (UInt32) -> Bool = { _ in false }
    ) throws(SRTPError) -> Int {
        guard memory.count >= 8 + profile.rtcpOverhead else { throw .malformed }
        let count = try handle.unprotect(memory, with: srtp_unprotect_rtcp)
        recordStream(ofPacket: memory, sourceOffset: 4, sparing: isInUse)
        return count
    }

    /// The number of sources with streams.
    package var streamCount: Int { streams.count }

    /// Records an authentic packet. If there are too many streams, the stream of a new source replaces another one: the
    /// one that was silent longest, preferably one that is not in use. A removed stream loses its replay protection, so
    /// that none is removed earlier.
    private func recordStream(
        ofPacket memory: UnsafeMutableRawBufferPointer, sourceOffset: Int, sparing isInUse: (UInt32) -> Bool
    ) {
        let source = UInt32(bigEndian: memory.loadUnaligned(fromByteOffset: sourceOffset, as: UInt32.self))
        packetsAccepted += 1
        if let index = streams.firstIndex(where: { $0.source == source }) {
            streams[index].newest = packetsAccepted
            return
        }
        if streams.count >= Self.maximumStreams {
            let unused = streams.indices.filter { !isInUse(streams[$0].source) }
            let candidates = unused.isEmpty ? Array(streams.indices) : unused
            if let oldest = candidates.min(by: { streams[$0].newest < streams[$1].newest }) {
                handle.removeStream(of: streams.remove(at: oldest).source)
            }
        }
        streams.append(Stream(source: source, newest: packetsAccepted))
    }

    /// Authenticates and decrypts an SRTP packet in an array, which shrinks.
    package func unprotectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
        try unprotect(&packet) { memory throws(SRTPError) in try unprotectRTP(memory) }
    }

    /// Authenticates and decrypts an SRTCP packet in an array, which shrinks.
    package func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
        try unprotect(&packet) { memory throws(SRTPError) in try unprotectRTCP(memory) }
    }

    private func unprotect(
        _ packet: inout [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int
    ) throws(SRTPError) {
        let result = packet.withUnsafeMutableBytes { memory in
            Result { () throws(SRTPError) in try body(memory) }
        }
        let count = try result.get()
        packet.removeLast(max(0, packet.count - count))
    }

    /// Whether the header with its CSRCs and its extension, and the tag, are within the packet (RFC 3550 §5.1).
    /// libsrtp2 checks this too, but this check does not depend on its version.
    private static func isWholeRTP(_ packet: UnsafeRawBufferPointer, trailer: Int) -> Bool {
        guard packet.count >= 12 + trailer, packet[0] >> 6 == 2 else { return false }
        var header = 12 + 4 * Int(packet[0] & 0x0F)
        guard packet[0] & 0x10 != 0 else { return packet.count >= header + trailer }
        guard packet.count >= header + 4 + trailer else { return false }
        header += 4 + 4 * (Int(packet[header + 2]) << 8 | Int(packet[header + 3]))
        return packet.count >= header + trailer
    }
}

/// An owner of an `srtp_t`.
private struct SRTPHandle: ~Copyable {
    private let session: srtp_t

    /// The maximum length of a datagram.
    private static let maximumByteCount = 65_535

    /// The result of libsrtp2's initialization, once per process, which also adds our ciphers.
    private static let initialized: srtp_err_status_t = {
        let status = srtp_init()
        guard status == srtp_err_status_ok else { return status }
        return kept == nil ? srtp_err_status_init_fail : SRTPCipher.addAll()
    }()

    /// A session of libsrtp2's own cipher, with which it derives the keys of all others. NSS shuts down with the last
    /// context of that cipher, and takes a millisecond to restart, for each new session.
    // No thread uses it, so that there is no data race.
    private nonisolated(unsafe) static let kept: srtp_t? = {
        var policy = srtp_policy_t()
        srtp_crypto_policy_set_rtp_default(&policy.rtp)
        srtp_crypto_policy_set_rtp_default(&policy.rtcp)
        policy.ssrc.type = ssrc_any_outbound
        var key = [UInt8](repeating: 0, count: Int(SRTP_AES_ICM_128_KEY_LEN_WSALT))
        var session: srtp_t?
        let status = key.withUnsafeMutableBufferPointer { key in
            policy.key = key.baseAddress
            return srtp_create(&session, &policy)
        }
        return status == srtp_err_status_ok ? session : nil
    }()

    init(
        profile: SRTPProfile, masterKey: SRTPMasterKey, direction: srtp_ssrc_type_t, allowsRepeatedTransmission: Bool
    ) throws(SRTPError) {
        guard Self.initialized == srtp_err_status_ok else { throw SRTPError(status: Self.initialized) }
        guard masterKey.keyByteCount == profile.masterKeyByteCount,
            masterKey.saltByteCount == profile.masterSaltByteCount
        else { throw .wrongKeyLength }
        var policy = srtp_policy_t()
        guard profile.apply(to: &policy) else { throw SRTPError(status: srtp_err_status_no_such_op) }
        policy.ssrc.type = direction
        policy.window_size = UInt(SRTPSender.replayWindow)
        policy.allow_repeat_tx = allowsRepeatedTransmission ? 1 : 0
        var session: srtp_t?
        let status = masterKey.withUnsafeBytes { secret in
            // libsrtp2 derives the session's keys from the secret, and keeps no copy.
            policy.key = UnsafeMutablePointer(mutating: secret.bindMemory(to: UInt8.self).baseAddress)
            return srtp_create(&session, &policy)
        }
        guard status == srtp_err_status_ok, let session else { throw SRTPError(status: status) }
        self.session = session
    }

    deinit { srtp_dealloc(session) }

    func removeStream(of source: UInt32) {
        // The source is in network byte order, unlike elsewhere in libsrtp2.
        srtp_remove_stream(session, source.bigEndian)
    }

    typealias Transform = (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t

    func protect(
        _ memory: UnsafeMutableRawBufferPointer, count: Int, minimum: Int, overhead: Int, with transform: Transform
    ) throws(SRTPError) -> Int {
        guard count >= minimum, count <= Self.maximumByteCount - overhead else { throw .malformed }
        guard count + overhead <= memory.count else { throw .noRoom(needed: count + overhead, capacity: memory.count) }
        return try run(memory, count: count, transform)
    }

    func unprotect(_ memory: UnsafeMutableRawBufferPointer, with transform: Transform) throws(SRTPError) -> Int {
        guard memory.count <= Self.maximumByteCount else { throw .malformed }
        return try run(memory, count: memory.count, transform)
    }

    private func run(_ memory: UnsafeMutableRawBufferPointer, count: Int, _ transform: Transform) throws(SRTPError)
        -> Int
    {
        var length = Int32(count)
        let status = transform(session, memory.baseAddress, &length)
        guard status == srtp_err_status_ok else { throw SRTPError(status: status) }
        return Int(length)
    }
}
