import RTCShareRTP
import RTCShareWireFormat
import TestSupport

/// An attack from off the path: the attacker forges source addresses, knows those of both ends and their username
/// fragments, and even has old datagrams of theirs, but no password and no key.
enum OffPathAttack: String, CaseIterable, Sendable {
    case requestsWithoutIntegrity
    case requestsWithWrongIntegrity
    case nominationsAndRoleConflicts
    case responsesToNothing
    case refusalsToNothing
    case indications
    case turnMessages
    case channelData
    case handshakeAlerts
    case handshakeHellos
    case handshakeFragments
    case handshakeRecords
    case encryptedRecords
    case forgedMedia
    case forgedControl
    case controlInTheClear
    case truncations
    case noise
    case replays
}

/// Makes the datagrams of an attack against one end of a call.
struct OffPathAttacker {
    let attack: OffPathAttack
    /// User name of a check to the victim.
    let username: String
    private var random: SeededGenerator
    /// The datagrams sent to the victim, and their times.
    private var captured: [(bytes: [UInt8], sent: Instant)] = []
    /// The delay of a copy behind the datagram itself: an attacker faster than the path would be on the path.
    private static let detour = Duration.milliseconds(100)
    private var next = 0

    init(_ attack: OffPathAttack, username: String, seed: UInt64) {
        self.attack = attack
        self.username = username
        random = SeededGenerator(seed: seed)
    }

    /// Takes a copy of what is on its way to the victim.
    mutating func capture(_ bytes: [UInt8], now: Instant) { captured.append((bytes, now)) }

    /// One forged datagram.
    mutating func datagram(now: Instant) -> [UInt8] {
        next += 1
        switch attack {
        case .requestsWithoutIntegrity:
            return stun(0x0001, [named, (0x0024, bytes(4)), (0x0025, []), (0x802A, bytes(8))])
        case .requestsWithWrongIntegrity:
            return stun(0x0001, [named, (0x0024, bytes(4)), (0x8029, bytes(8)), (0x0008, bytes(20))])
        case .nominationsAndRoleConflicts:
            let role: UInt16 = next % 2 == 0 ? 0x802A : 0x8029
            let tieBreaker = [UInt8](repeating: next % 4 < 2 ? 0xFF : 0, count: 8)
            return stun(
                0x0001,
                [named, (0x0024, [255, 255, 255, 255]), (0x0025, []), (role, tieBreaker), (0x0008, bytes(20))])
        case .responsesToNothing: return stun(0x0101, [(0x0020, [0, 1] + bytes(6))] + integrity())
        case .refusalsToNothing:
            let code: (UInt8, UInt8) = [(3, 0), (4, 0), (4, 1), (4, 3), (4, 20), (4, 38), (4, 87), (5, 0)][next % 8]
            return stun(
                0x0111,
                [(0x0009, [0, 0, code.0, code.1] + Array("no".utf8)), (0x0014, [0x72]), (0x0015, bytes(8))]
                    + integrity())
        case .indications: return stun(0x0011, [(0x0020, [0, 1] + bytes(6))])
        case .turnMessages: return turnMessage()
        case .channelData:
            let data = bytes(next % 40)
            return [0x40 | UInt8(next % 16), UInt8(next & 0xFF), 0, UInt8(data.count)] + data
        case .handshakeAlerts: return record(21, epoch: 0, [UInt8(1 + next % 2), [0, 10, 40, 42, 80, 100][next % 6]])
        case .handshakeHellos: return record(22, epoch: 0, next % 2 == 0 ? hello() : serverHello())
        case .handshakeFragments: return record(22, epoch: 0, fragment())
        case .handshakeRecords: return record(20 + UInt8(next % 4), epoch: 0, bytes(1 + next % 60))
        case .encryptedRecords: return record(20 + UInt8(next % 4), epoch: UInt16(1 + next % 3), bytes(24 + next % 60))
        case .forgedMedia: return [0x90, 96 + UInt8(next % 30)] + bytes(60 + next % 1100)
        case .forgedControl: return [0x81, 200 + UInt8(next % 7), 0, UInt8(next % 20)] + bytes(40 + next % 100)
        case .controlInTheClear: return control()
        case .truncations:
            guard let whole = capturedDatagram(now: now) else { return [] }
            return Array(whole.prefix(Int.random(in: 0..<max(1, whole.count), using: &random)))
        case .noise: return bytes(Int.random(in: 0...300, using: &random))
        case .replays: return capturedDatagram(now: now) ?? []
        }
    }

    private mutating func capturedDatagram(now: Instant) -> [UInt8]? {
        let old = captured.firstIndex { $0.sent.advanced(by: Self.detour) > now } ?? captured.count
        return captured[..<old].randomElement(using: &random)?.bytes
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private var named: (UInt16, [UInt8]) { (0x0006, Array(username.utf8)) }

    /// A wrong MESSAGE-INTEGRITY, or none.
    private mutating func integrity() -> [(UInt16, [UInt8])] {
        guard next % 2 == 0 else { return [] }
        return [(0x0008, bytes(20))]
    }

    /// A message of this type (RFC 8489 §5), in a transaction that nobody began.
    private mutating func stun(_ type: UInt16, _ attributes: [(type: UInt16, value: [UInt8])]) -> [UInt8] {
        var body: [UInt8] = []
        for attribute in attributes {
            body.append(bigEndian: attribute.type)
            body.append(bigEndian: UInt16(attribute.value.count))
            body += attribute.value
            while body.count % 4 > 0 { body.append(0) }
        }
        var message: [UInt8] = []
        message.append(bigEndian: type)
        message.append(bigEndian: UInt16(body.count))
        return message + [0x21, 0x12, 0xA4, 0x42] + bytes(12) + body
    }

    /// Allocate, Refresh, CreatePermission, ChannelBind, Data and Send, of each class (RFC 8656 §17).
    private mutating func turnMessage() -> [UInt8] {
        let method: UInt16 = [3, 4, 8, 9, 7, 6][next % 6]
        let messageClass: UInt16 = [0, 0x100, 0x110, 0x010][next / 6 % 4]
        return stun(
            method | messageClass,
            [
                (0x0009, [0, 0, 4, 37]), (0x000D, [0, 0, 0, 0]), (0x0016, [0, 1] + bytes(6)),
                (0x0020, [0, 1] + bytes(6)), (0x0012, [0, 1] + bytes(6)), (0x0013, bytes(20)),
                (0x8023, [0, 1] + bytes(6)),
            ])
    }

    /// A record of DTLS 1.2 (RFC 6347 §4.1).
    private func record(_ type: UInt8, epoch: UInt16, _ body: [UInt8]) -> [UInt8] {
        var record: [UInt8] = [type, 0xFE, 0xFD]
        record.append(bigEndian: epoch)
        record += [0, 0, 0, 0, UInt8(next >> 8 & 0xFF), UInt8(next & 0xFF)]
        record.append(bigEndian: UInt16(body.count))
        return record + body
    }

    /// A handshake message that is one fragment (RFC 6347 §4.2.2).
    private func message(_ type: UInt8, sequence: UInt8, _ body: [UInt8]) -> [UInt8] {
        let length = [0, UInt8(body.count >> 8), UInt8(body.count & 0xFF)]
        return [type] + length + [0, sequence] + [0, 0, 0] + length + body
    }

    private mutating func hello() -> [UInt8] {
        message(1, sequence: UInt8(next % 4), [0xFE, 0xFD] + bytes(32) + [0, 0, 0, 2, 0xC0, 0x2B, 1, 0])
    }

    private mutating func serverHello() -> [UInt8] {
        message(2, sequence: UInt8(next % 4), [0xFE, 0xFD] + bytes(32) + [0, 0xC0, 0x2B, 0])
    }

    private mutating func fragment() -> [UInt8] {
        let body = bytes(next % 50)
        var header: [UInt8] = [UInt8(next % 24), 0, UInt8(next % 3), UInt8(next & 0xFF), 0, UInt8(next % 6)]
        header += [0, UInt8(next % 2), UInt8(next & 0xFF), 0, 0, UInt8(body.count)]
        return header + body
    }

    /// RTCP that nobody encrypted: goodbye, loss, an estimate of nothing, and feedback of which all is lost.
    private mutating func control() -> [UInt8] {
        let source = SynchronizationSource(UInt32.random(in: 0...UInt32.max, using: &random))
        let packets: [RTCPPacket] = [
            .goodbye(Goodbye(sources: [source])),
            .pictureLossIndication(PictureLossIndication(sender: source, media: source)),
            .receiverEstimatedMaximumBitrate(
                ReceiverEstimatedMaximumBitrate(sender: source, bitrate: .kilobitsPerSecond(1), sources: [source])),
            .transportFeedback(
                TransportFeedback(
                    sender: source, media: source, baseSequenceNumber: TransportSequenceNumber(1), referenceTime: 1,
                    feedbackPacketCount: 1, deltas: [Int16?](repeating: nil, count: 200))),
        ]
        let datagrams = RTCPBundleWriter(source: source, canonicalName: "x", allowsReducedSize: true)
            .datagrams(feedback: [packets[next % packets.count]])
        return datagrams.first ?? []
    }
}
