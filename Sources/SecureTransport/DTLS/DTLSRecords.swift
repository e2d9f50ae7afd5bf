internal import RTCShareWireFormat

/// A look at the records of a datagram before OpenSSL gets it (RFC 6347 §4.1, §4.2.2).
///
/// Until both ends have keys, records bear no proof of who wrote them. OpenSSL ends the connection at one of a type it
/// does not know, at a handshake message that contradicts itself, and at a fatal alert; so that not anybody who knows the
/// port can bring that about, such datagrams go no further than this. What remains is who forges the peer's address and
/// port while the handshake lasts and writes whole messages as the peer would: DTLS 1.2 has nothing against that.
enum DTLSRecords {
    /// What a datagram holds.
    enum Content: Hashable {
        /// No records that a handshake or a connection may hold.
        case malformed
        /// Records for OpenSSL.
        case records
        /// An alert in the clear, which anybody may have written.
        case unprovenAlert(isFatal: Bool, code: UInt8)
    }

    /// What a record says that it holds (RFC 5246 §6.2.1).
    enum ContentType {
        static let changeCipherSpec: UInt8 = 20
        static let alert: UInt8 = 21
        static let handshake: UInt8 = 22
        static let applicationData: UInt8 = 23
    }

    /// What a datagram of the peer of `role` holds.
    ///
    /// `shortestProtected` is what a record that has keys is long at least, by the suite that was chosen; nil while none
    /// was. OpenSSL takes one that is too short to hold a nonce and a tag for a fault of its own, and ends the connection.
    static func content(of datagram: RawSpan, to role: DTLSRole, shortestProtected: Int?) -> Content {
        var reader = ByteReader(datagram)
        guard reader.remaining > 0 else { return .malformed }
        var content = Content.records
        do throws(EndOfBytes) {
            while reader.remaining > 0 {
                let type = try reader.readUInt8()
                let version = try reader.readUInt16()
                let epoch = try reader.readUInt16()
                try reader.skip(6)
                let length = Int(try reader.readUInt16())
                let start = datagram.byteCount - reader.remaining
                try reader.skip(length)
                guard (ContentType.changeCipherSpec...ContentType.applicationData).contains(type),
                    version >> 8 == 0xFE, length > 0
                else { return .malformed }
                guard epoch == 0 else {
                    guard let shortestProtected, length >= shortestProtected else { return .malformed }
                    continue
                }
                let body = datagram.extracting(start..<start + length)
                switch type {
                case ContentType.handshake:
                    guard try isHandshake(body, to: role) else { return .malformed }
                case ContentType.alert:
                    guard length == 2 else { return .malformed }
                    var alert = ByteReader(body)
                    let level = try alert.readUInt8()
                    content = .unprovenAlert(isFatal: level == 2, code: try alert.readUInt8())
                case ContentType.changeCipherSpec:
                    var message = ByteReader(body)
                    guard length == 1, try message.readUInt8() == 1 else { return .malformed }
                default: return .malformed
                }
            }
            return content
        } catch {
            return .malformed
        }
    }

    /// Whether a datagram that was found to hold records begins with the message that begins the peer's flight before
    /// keys: a client_hello to a server, a server_hello to a client.
    static func beginsFlight(_ datagram: RawSpan, to role: DTLSRole) -> Bool {
        var reader = ByteReader(datagram)
        do throws(EndOfBytes) {
            let type = try reader.readUInt8()
            try reader.skip(2)
            let epoch = try reader.readUInt16()
            // The number and the length of the record.
            try reader.skip(8)
            let message = try reader.readUInt8()
            return type == ContentType.handshake && epoch == 0 && message == (role == .server ? 1 : 2)
        } catch {
            return false
        }
    }

    /// Handshake messages that the peer may send in the clear (RFC 5246 §7.4, RFC 6347 §4.2.1): hello_verify_request, the
    /// server's flight and a ticket, or the client's flight.
    private static func types(to role: DTLSRole) -> Set<UInt8> {
        switch role {
        case .client: [2, 3, 4, 11, 12, 13, 14, 22]
        case .server: [1, 11, 15, 16]
        }
    }

    /// A chain of a few large certificates.
    static let longestMessage = 32_768
    /// A handshake has a dozen messages at most.
    static let highestSequenceNumber = 15

    /// Whether a record is made of whole fragments of messages that the peer may send.
    private static func isHandshake(_ body: RawSpan, to role: DTLSRole) throws(EndOfBytes) -> Bool {
        var reader = ByteReader(body)
        while reader.remaining > 0 {
            let type = try reader.readUInt8()
            let length = try readUInt24(&reader)
            let sequenceNumber = try reader.readUInt16()
            let offset = try readUInt24(&reader)
            let fragment = try readUInt24(&reader)
            try reader.skip(fragment)
            guard types(to: role).contains(type), length <= longestMessage, offset + fragment <= length,
                sequenceNumber <= highestSequenceNumber, fragment > 0 || length == 0
            else { return false }
        }
        return true
    }

    private static func readUInt24(_ reader: inout ByteReader) throws(EndOfBytes) -> Int {
        Int(try reader.readUInt8()) << 16 | Int(try reader.readUInt16())
    }
}
