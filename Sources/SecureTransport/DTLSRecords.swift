internal import WireFormat

/// A look at the record headers of a datagram before OpenSSL gets it (RFC 6347 §4.1).
///
/// OpenSSL ends the connection at a record of a type it does not know, which anybody could send who knows the port; so
/// such datagrams go no further than this.
enum DTLSRecords {
    private enum ContentType {
        static let changeCipherSpec: UInt8 = 20
        static let applicationData: UInt8 = 23
    }

    /// Whether a datagram is made of whole records that a handshake or a connection may hold.
    static func areWellFormed(_ datagram: RawSpan) -> Bool {
        var reader = ByteReader(datagram)
        guard reader.remaining > 0 else { return false }
        do throws(EndOfBytes) {
            while reader.remaining > 0 {
                let type = try reader.readUInt8()
                let version = try reader.readUInt16()
                let epoch = try reader.readUInt16()
                try reader.skip(6)
                let length = Int(try reader.readUInt16())
                try reader.skip(length)
                guard (ContentType.changeCipherSpec...ContentType.applicationData).contains(type),
                    version >> 8 == 0xFE, length > 0,
                    !(epoch == 0 && type == ContentType.applicationData)
                else { return false }
            }
            return true
        } catch {
            return false
        }
    }
}
