internal import RTCShareRTP
internal import RTCShareWireFormat

/// The counts of one sent source (W3C `RTCOutboundRtpStreamStats`).
package struct OutboundStatistics: Encodable, Sendable {
    package private(set) var packetsSent: UInt64 = 0
    package private(set) var bytesSent: UInt64 = 0
    package private(set) var headerBytesSent: UInt64 = 0
    /// The time that all packets waited to leave.
    var totalPacketSendDelay = Duration.zero
    /// The packets and bytes that had a source of their own (RFC 4588), which this source did not send.
    private(set) var separatePacketsSent: UInt64 = 0
    private(set) var separateBytesSent: UInt64 = 0
    var video = Video()

    /// The members that only video has.
    package struct Video: Encodable, Sendable {
        fileprivate(set) var retransmittedPacketsSent: UInt64 = 0
        fileprivate(set) var retransmittedBytesSent: UInt64 = 0
        /// Packets of forward error correction, which are among all packets.
        fileprivate(set) var fecPacketsSent: UInt64 = 0
        fileprivate(set) var fecBytesSent: UInt64 = 0
        package fileprivate(set) var framesSent: UInt64 = 0
        package fileprivate(set) var keyFramesSent: UInt64 = 0
        package internal(set) var frameWidth = 0
        package internal(set) var frameHeight = 0
        var nackCount: UInt64 = 0
        package var pliCount: UInt64 = 0
        package var firCount: UInt64 = 0
    }

    private enum CodingKeys: CodingKey { case packetsSent, bytesSent, headerBytesSent, totalPacketSendDelay }

    mutating func count(_ frame: PacketizedFrame) {
        video.framesSent += 1
        if frame.isKeyFrame { video.keyFramesSent += 1 }
        video.frameWidth = frame.width
        video.frameHeight = frame.height
    }

    /// Counts a packet's payload and header, in bytes.
    mutating func countPacket(payload: Int, header: Int) {
        packetsSent += 1
        bytesSent += UInt64(payload)
        headerBytesSent += UInt64(header)
    }

    /// Counts a packet that was counted already as one of forward error correction.
    mutating func countCorrection(payload: Int) {
        video.fecPacketsSent += 1
        video.fecBytesSent += UInt64(payload)
    }

    /// Counts a packet that holds nothing but padding, under a source of its own: webrtc-stats has padding with headers.
    mutating func countPadding(_ byteCount: Int) {
        separatePacketsSent += 1
        countPacket(payload: 0, header: byteCount)
    }

    /// Counts a packet that is sent again, payload and header in bytes; webrtc-stats has it in the totals too.
    mutating func countRetransmission(payload: Int, header: Int, hasOwnSource: Bool) {
        video.retransmittedPacketsSent += 1
        video.retransmittedBytesSent += UInt64(payload)
        if hasOwnSource {
            separatePacketsSent += 1
            separateBytesSent += UInt64(payload)
        }
        countPacket(payload: payload, header: header)
    }
}
