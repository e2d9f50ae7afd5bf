internal import RTCShareWireFormat

/// Inspects the records of a datagram before OpenSSL processes them (RFC 6347 §4.1, §4.2.2).
///
/// Until both ends have keys, records are not authenticated. OpenSSL ends the connection at a record of an unknown
/// type, at an inconsistent handshake message, and at a fatal alert. Anyone who knows the port could send those, so
/// that such datagrams are dropped here. An attacker who forges the peer's address and port during the handshake, with
/// complete valid messages, still succeeds: DTLS 1.2 has no protection against that.
enum DTLSRecords {
    /// The content of a datagram.
    enum Content: Hashable {
        /// The datagram is not made of records that a handshake or a connection can contain.
        case malformed
        /// The datagram contains records for OpenSSL.
        case records
        /// The datagram contains an unauthenticated alert, which anyone can have sent.
        case unprovenAlert(isFatal: Bool, code: UInt8)
    }

    /// The content type of a record (RFC 5246 §6.2.1).
    enum ContentType {
        static let changeCipherSpec: UInt8 = 20
        static let alert: UInt8 = 21
        static let handshake: UInt8 = 22
        static let applicationData: UInt8 = 23
    }

    /// Returns the content of a datagram from the peer of `role`.
    ///
    /// `shortestProtected` is the minimum length of an encrypted record in the negotiated suite; nil before the
    /// negotiation. OpenSSL treats a record without room for a nonce and a tag as an internal error, and ends the
    /// connection.
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

    /// Whether a datagram of records starts the peer's unencrypted flight: with a client_hello to a server, or a
    /// server_hello to a client.
    static func beginsFlight(_ datagram: RawSpan, to role: DTLSRole) -> Bool {
        var reader = ByteReader(datagram)
        do throws(EndOfBytes) {
            let type = try reader.readUInt8()
            try reader.skip(2)
            let epoch = try reader.readUInt16()
            // The sequence number and the length of the record are skipped.
            try reader.skip(8)
            let message = try reader.readUInt8()
            return type == ContentType.handshake && epoch == 0 && message == (role == .server ? 1 : 2)
        } catch {
            return false
        }
    }

    /// Returns the unencrypted handshake messages that the peer can send (RFC 5246 §7.4, RFC 6347 §4.2.1):
    /// hello_verify_request, the server's flight and a ticket, or the client's flight.
    private static func types(to role: DTLSRole) -> Set<UInt8> {
        switch role {
        case .client: [2, 3, 4, 11, 12, 13, 14, 22]
        case .server: [1, 11, 15, 16]
        }
    }

    /// The maximum length of a message: a chain of a few large certificates.
    static let longestMessage = 32_768
    /// The maximum sequence number of a message: a handshake has at most a dozen messages.
    static let highestSequenceNumber = 15

    /// Whether a record consists of whole fragments of messages that the peer can send.
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
