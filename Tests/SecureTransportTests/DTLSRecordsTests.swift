import RTCShareWireFormat
import Testing

@testable import RTCShareSecureTransport

/// The filter for the datagrams that OpenSSL receives.
@Suite struct DTLSRecordsTests {
    /// A record with the first byte of a handshake message of `length` bytes.
    private static func beginning(ofMessage type: UInt8, length: UInt32, sequenceNumber: UInt16) -> [UInt8] {
        var message: [UInt8] = [type] + bytes(length) + [UInt8(sequenceNumber >> 8), UInt8(sequenceNumber & 0xFF)]
        message += bytes(0) + bytes(1) + [0]
        return [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(message.count)] + message
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    private static func isRead(_ datagram: [UInt8], by role: DTLSRole) -> Bool {
        DTLSRecords.content(of: datagram.span.bytes, to: role, shortestProtected: nil) == .records
    }

    @Test(
        "Nothing is kept of a certificate chain of more than 32 KB", arguments: [DTLSRole.client, .server])
    func longChain(role: DTLSRole) {
        for (length, isRead) in [(1, true), (32_768, true), (32_769, false), (0xFF_FFFF, false)] as [(UInt32, Bool)] {
            let datagram = Self.beginning(ofMessage: 11, length: length, sequenceNumber: 2)
            #expect(Self.isRead(datagram, by: role) == isRead, "\(length)")
        }
        #expect(DTLSRecords.longestMessage == 32_768)
    }

    @Test("Messages beyond the number that a handshake has are ignored", arguments: [DTLSRole.client, .server])
    func manyMessages(role: DTLSRole) {
        let numbers = (0...UInt16(100)).filter {
            Self.isRead(Self.beginning(ofMessage: 11, length: 100, sequenceNumber: $0), by: role)
        }
        #expect(numbers == Array(0...15))
    }
}
