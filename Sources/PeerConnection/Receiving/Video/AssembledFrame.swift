package import RTCShareRTP
package import RTCShareWireFormat

/// A whole VP8 frame as a decoder takes it.
package struct AssembledFrame: Hashable, Sendable {
    /// The frame's bytes, all partitions.
    package let data: [UInt8]
    /// What the first bytes say: whether it is a key frame, and then its size.
    package let header: VP8FrameHeader
    /// The media clock at the frame, the same in all of its packets.
    package let timestamp: RTPTimestamp
    /// The sender's number of the picture, where it gives one.
    package let pictureID: VP8PictureID?
    /// The temporal layer, where the sender uses them.
    package let temporalLayer: VP8TemporalLayer?
    /// How many packets it came in.
    package let packetCount: Int
    /// When the first of its packets arrived.
    package let firstArrival: Instant
    /// When the last packet arrived that it needed.
    package let completion: Instant

    /// Quarter turns clockwise that make the picture stand upright, 0 to 3: what the frame says or, where it says nothing,
    /// the newest one before it that did (3GPP TS 26.114 §7.4.5).
    package internal(set) var quarterTurns = 0
    /// When the picture was taken, since 1 January 1970 on the sender's wallclock; nil before a sender report.
    package internal(set) var captureTime: Duration?

    /// Whether the frame decodes on its own.
    package var isKeyFrame: Bool { header.isKeyFrame }

    /// Width and height in pixels of a key frame; nil for others.
    package var size: (width: Int, height: Int)? {
        header.isKeyFrame ? (header.width, header.height) : nil
    }
}
