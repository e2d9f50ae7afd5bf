package import RTCShareRTP

/// An encoded frame of a video, for a recording.
package struct RecordedFrame: Sendable {
    /// The frame's bytes.
    package let data: [UInt8]
    /// The payload format, which is that of the codec.
    package let format: any VideoPayloadFormat
    /// The number of quarter turns clockwise that make the frame upright.
    package let quarterTurns: Int

    package init(data: [UInt8], format: any VideoPayloadFormat, quarterTurns: Int = 0) {
        self.data = data
        self.format = format
        self.quarterTurns = quarterTurns
    }
}
