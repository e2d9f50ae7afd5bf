package import RTCShareRTP
package import RTCShareWireFormat

/// A whole frame for the decoder.
package struct AssembledFrame: Sendable {
    /// The frame's bytes.
    package let data: [UInt8]
    /// The payload format, which is that of the codec.
    package let format: any VideoPayloadFormat
    /// The frame header, which identifies key frames and contains their size.
    package let header: VideoFrameHeader
    /// The timestamp of the frame, the same in all of its packets.
    package let timestamp: RTPTimestamp
    /// The number of the frame, if the sender numbers frames.
    package let pictureID: PictureNumber?
    /// The number of packets of the frame.
    package let packetCount: Int
    /// The arrival time of the frame's first packet.
    package let firstArrival: Instant
    /// The arrival time of the last packet that completed the frame.
    package let completion: Instant

    /// The number of quarter turns clockwise, 0 to 3, after which the frame is upright, according to this frame or else
    /// the latest one with an orientation (3GPP TS 26.114 §7.4.5).
    package internal(set) var quarterTurns = 0
    /// The capture time, since 1 January 1970 on the sender's wallclock; nil before a sender report.
    package internal(set) var captureTime: Duration?

    /// Whether the frame is a key frame, which decodes without other frames.
    package var isKeyFrame: Bool { header.isKeyFrame }

    /// The width and height of a key frame in pixels; nil for other frames.
    package var size: (width: Int, height: Int)? {
        header.isKeyFrame ? (header.width, header.height) : nil
    }
}
