internal import Glibc
internal import RTCShareCDatagrams
internal import RTCShareRTP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// The minimum cost of sending to a room: libsrtp2's protect and the kernel's UDP, for the same frames to the same
/// sockets, in a loop that does nothing else.
final class FanoutFloor {
    /// The work of the loop for each packet.
    enum Work: CaseIterable {
        case protect
        case send
        case protectAndSend
        case protectAndSendSegmented
    }

    private let sessions: [SRTPSender]
    private let descriptor: Int32
    private let names: UnsafeMutablePointer<sockaddr_in>
    /// The packets, back to back, so that those of one message are contiguous.
    private let arena: UnsafeMutableRawBufferPointer
    private let messages: UnsafeMutablePointer<datagram>
    private var used = 0
    private var pending = 0
    /// The next sequence number of each viewer.
    private var numbers: [UInt16]
    private(set) var refused = 0

    private static let capacity = Int(DATAGRAMS_MOST)
    private static let slot = 1280
    /// The size of RTP's fixed header with the two extensions of every packet.
    private static let header = 24

    init(ports: [UInt16]) throws {
        let profile = SRTPProfile.aeadAES128GCM
        sessions = try ports.map { port in
            var random = SystemRandomNumberGenerator()
            return try SRTPSender(
                profile: profile,
                masterKey: SRTPMasterKey(
                    key: (0..<profile.masterKeyByteCount).map { _ in UInt8.random(in: 0...255, using: &random) },
                    salt: (0..<profile.masterSaltByteCount).map { UInt8(truncatingIfNeeded: Int(port) + $0) }))
        }
        numbers = Array(repeating: 1, count: ports.count)
        descriptor = try CrowdSocket.open(at: .v4(0x7F00_0001)).descriptor
        names = .allocate(capacity: ports.count)
        for (index, port) in ports.enumerated() {
            (names + index).initialize(to: sockaddr_in(TransportAddress(ip: .v4(0x7F00_0001), port: port)))
        }
        arena = .allocate(byteCount: 4 * Self.capacity * Self.slot, alignment: 64)
        arena.initializeMemory(as: UInt8.self, repeating: 0x5A)
        messages = .allocate(capacity: Self.capacity)
        messages.initialize(repeating: datagram(), count: Self.capacity)
    }

    deinit {
        close(descriptor)
        names.deallocate()
        arena.deallocate()
        messages.deallocate()
    }

    /// Does the work of frames for `seconds`, at their rate; returns the nanoseconds of processor time per packet.
    func run(_ work: Work, kilobitsPerSecond: Int, seconds: Double, seed: UInt64) async throws -> Double {
        var frames = FanoutFrames(kilobitsPerSecond: kilobitsPerSecond, seed: seed)
        var packets = 0
        var nanoseconds = 0.0
        let clock = ContinuousClock()
        var next = clock.now
        for _ in 0..<Int(seconds * Double(FanoutFrames.framesPerSecond)) {
            let frame = frames.next(isKeyFrame: false, now: Instant(nanoseconds: 0))
            let (count, time) = try pass(frame, work)
            packets += count
            nanoseconds += time
            next = next.advanced(by: .nanoseconds(1_000_000_000 / FanoutFrames.framesPerSecond))
            try await Task.sleep(until: next, clock: clock)
        }
        return nanoseconds / Double(max(1, packets))
    }

    private func pass(_ frame: PacketizedFrame, _ work: Work) throws -> (packets: Int, nanoseconds: Double) {
        let start = Measurement()
        for viewer in sessions.indices {
            var group = 0
            for fragment in 0..<frame.fragmentCount {
                if used + Self.slot > arena.count || pending == Self.capacity {
                    flush()
                    group = 0
                }
                let packet = UnsafeMutableRawBufferPointer(rebasing: arena[used..<used + Self.slot])
                let size = Self.header + frame.payloadByteCount(at: fragment)
                var length = size + SRTPProfile.aeadAES128GCM.rtpOverhead
                if work != .send {
                    packet.storeBytes(of: UInt16(0x8060).bigEndian, as: UInt16.self)
                    packet.storeBytes(of: numbers[viewer].bigEndian, toByteOffset: 2, as: UInt16.self)
                    packet.storeBytes(of: UInt32(1), toByteOffset: 4, as: UInt32.self)
                    packet.storeBytes(of: UInt32(1), toByteOffset: 8, as: UInt32.self)
                    length = try sessions[viewer].protectRTP(packet, count: size)
                    numbers[viewer] &+= 1
                }
                guard work != .protect else { continue }
                used += length
                if group > 0, work == .protectAndSendSegmented, length <= group {
                    messages[pending - 1].length += UInt32(length)
                    messages[pending - 1].segment = UInt16(group)
                    if length < group { group = 0 }
                    continue
                }
                var message = datagram()
                message.bytes = UnsafeRawPointer(packet.baseAddress)
                message.length = UInt32(length)
                message.name = UnsafeRawPointer(names + viewer)
                message.name_length = UInt16(MemoryLayout<sockaddr_in>.size)
                messages[pending] = message
                pending += 1
                group = length
            }
        }
        flush()
        return (sessions.count * frame.fragmentCount, Measurement().nanoseconds(since: start))
    }

    private func flush() {
        var sent = 0
        var error: Int32 = 0
        while sent < pending {
            let count = Int(datagrams_send(descriptor, messages + sent, UInt32(pending - sent), &error))
            if count <= 0 { refused += 1 }
            sent += max(1, count)
        }
        (used, pending) = (0, 0)
    }
}
