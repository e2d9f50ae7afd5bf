internal import RTCShareRTP
internal import RTCShareWireFormat

/// What was sent from one source, under the names of W3C webrtc-stats (`RTCOutboundRtpStreamStats`).
struct OutboundStatistics: Sendable {
    private(set) var packetsSent: UInt64 = 0
    private(set) var bytesSent: UInt64 = 0
    private(set) var headerBytesSent: UInt64 = 0
    private(set) var retransmittedPacketsSent: UInt64 = 0
    private(set) var retransmittedBytesSent: UInt64 = 0
    /// Of the retransmissions, those that had a source of their own (RFC 4588): no part of what this source sent.
    private(set) var separatePacketsSent: UInt64 = 0
    private(set) var separateBytesSent: UInt64 = 0
    /// Packets of forward error correction, which are among all packets.
    private(set) var fecPacketsSent: UInt64 = 0
    private(set) var fecBytesSent: UInt64 = 0
    private(set) var framesSent: UInt64 = 0
    private(set) var keyFramesSent: UInt64 = 0
    private(set) var frameWidth = 0
    private(set) var frameHeight = 0
    /// How long all packets have waited to leave.
    var totalPacketSendDelay = Duration.zero
    var nackCount: UInt64 = 0
    var pliCount: UInt64 = 0
    var firCount: UInt64 = 0

    mutating func count(_ frame: PacketizedFrame) {
        framesSent += 1
        if frame.isKeyFrame { keyFramesSent += 1 }
        frameWidth = frame.width
        frameHeight = frame.height
    }

    /// Counts a packet's payload and header, in bytes.
    mutating func countPacket(payload: Int, header: Int) {
        packetsSent += 1
        bytesSent += UInt64(payload)
        headerBytesSent += UInt64(header)
    }

    /// Counts a packet that was counted already as one of forward error correction.
    mutating func countCorrection(payload: Int) {
        fecPacketsSent += 1
        fecBytesSent += UInt64(payload)
    }

    /// Counts a packet that holds nothing but padding, under a source of its own: webrtc-stats has padding with headers.
    mutating func countPadding(_ byteCount: Int) {
        separatePacketsSent += 1
        countPacket(payload: 0, header: byteCount)
    }

    /// Counts a packet that is sent again, payload and header in bytes; webrtc-stats has it in the totals too.
    mutating func countRetransmission(payload: Int, header: Int, hasOwnSource: Bool) {
        retransmittedPacketsSent += 1
        retransmittedBytesSent += UInt64(payload)
        if hasOwnSource {
            separatePacketsSent += 1
            separateBytesSent += UInt64(payload)
        }
        countPacket(payload: payload, header: header)
    }
}
