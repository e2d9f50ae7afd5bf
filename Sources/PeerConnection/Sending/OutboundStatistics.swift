internal import RTCShareRTP
internal import RTCShareWireFormat

/// The counts of one sent source (W3C `RTCOutboundRtpStreamStats`).
package struct OutboundStatistics: Encodable, Sendable {
    package private(set) var packetsSent: UInt64 = 0
    package private(set) var bytesSent: UInt64 = 0
    package private(set) var headerBytesSent: UInt64 = 0
    /// The total time that packets waited before they were sent.
    var totalPacketSendDelay = Duration.zero
    /// The packets and bytes of the retransmission source (RFC 4588), which the media source did not send.
    private(set) var separatePacketsSent: UInt64 = 0
    private(set) var separateBytesSent: UInt64 = 0
    var video = Video()

    /// The members that only video has.
    package struct Video: Encodable, Sendable {
        fileprivate(set) var retransmittedPacketsSent: UInt64 = 0
        fileprivate(set) var retransmittedBytesSent: UInt64 = 0
        /// The packets of forward error correction, which are included in all packets.
        fileprivate(set) var fecPacketsSent: UInt64 = 0
        fileprivate(set) var fecBytesSent: UInt64 = 0
        package internal(set) var framesSent: UInt64 = 0
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

    /// Counts a packet of forward error correction that was already counted as a packet.
    mutating func countCorrection(payload: Int) {
        video.fecPacketsSent += 1
        video.fecBytesSent += UInt64(payload)
    }

    /// Counts a packet of padding with the retransmission source. webrtc-stats counts padding with headers.
    mutating func countPadding(_ byteCount: Int) {
        separatePacketsSent += 1
        countPacket(payload: 0, header: byteCount)
    }

    /// Counts a retransmission, with payload and header in bytes. webrtc-stats includes it in the totals.
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
