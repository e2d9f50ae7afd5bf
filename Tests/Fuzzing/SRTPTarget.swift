import RTCShareSecureTransport
import RTCShareWireFormat

/// Packets that are protected with the right keys, as they are and changed on their way, and what only looks like SRTP.
///
/// The first byte picks the profile; a step is a packet.
struct SRTPTarget: FuzzTarget {
    private enum Kind {
        static let media: UInt8 = 0
        static let control: UInt8 = 1
        /// As the two before, but of what is protected bytes are changed, by what the first bytes of the step say.
        static let changedMedia: UInt8 = 2
        static let changedControl: UInt8 = 3
        /// Not protected at all.
        static let rawMedia: UInt8 = 4
        static let rawControl: UInt8 = 5
        static let count: UInt8 = 6
    }

    func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let profile = SRTPProfile.allCases[Int(first) % SRTPProfile.allCases.count]
        let key = SRTPMasterKey(
            key: (0..<profile.masterKeyByteCount).map { UInt8($0) },
            salt: (0..<profile.masterSaltByteCount).map { UInt8($0 ^ 0x55) })
        let sender = try SRTPSender(profile: profile, masterKey: key, allowsRepeatedTransmission: true)
        let receiver = try SRTPReceiver(profile: profile, masterKey: key)
        for step in Script(Array(input.dropFirst())) {
            let kind = step.kind % Kind.count
            let isControl = kind % 2 == 1
            var packet = step.bytes
            if kind < Kind.rawMedia {
                let changes = kind >= Kind.changedMedia ? Array(packet.prefix(3)) : []
                packet = Array(packet.dropFirst(changes.count))
                do {
                    if isControl { try sender.protectRTCP(&packet) } else { try sender.protectRTP(&packet) }
                } catch {
                    expect(
                        packet == Array(step.bytes.dropFirst(changes.count)), "a packet that is refused stays as it is")
                    continue
                }
                if changes.count == 3, !packet.isEmpty {
                    packet[(Int(changes[0]) << 8 | Int(changes[1])) % packet.count] &+= changes[2]
                }
                let isWhole = changes.count < 3 || changes[2] == 0
                guard (try? unprotect(&packet, isControl, by: receiver)) != nil else { continue }
                if isWhole {
                    expect(packet == Array(step.bytes.dropFirst(changes.count)), "what comes out is what went in")
                }
            } else {
                let count = packet.count
                try? unprotect(&packet, isControl, by: receiver)
                expect(packet.count <= count, "a packet does not grow when it is decrypted")
            }
        }
    }

    private func unprotect(_ packet: inout [UInt8], _ isControl: Bool, by receiver: SRTPReceiver) throws(SRTPError) {
        if isControl { try receiver.unprotectRTCP(&packet) } else { try receiver.unprotectRTP(&packet) }
    }

    func seeds() -> [String: [UInt8]] {
        let media: [UInt8] = [
            0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xBE, 0xDE, 0, 1, 0x10, 0x30, 0, 0, 1, 2, 3, 4, 5,
        ]
        let next: [UInt8] = [0x80, 96, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 9, 9]
        let control: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 3]
        var seeds: [String: [UInt8]] = [:]
        for profile in SRTPProfile.allCases.indices {
            seeds["profile-\(profile)"] =
                [UInt8(profile)]
                + Script.bytes([
                    (Kind.media, media), (Kind.control, control), (Kind.changedMedia, [0, 20, 1] + next),
                    (Kind.changedControl, [0, 9, 0] + control), (Kind.rawMedia, media + media),
                ])
        }
        return seeds
    }
}
