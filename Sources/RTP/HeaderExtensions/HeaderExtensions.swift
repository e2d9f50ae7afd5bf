package import RTCShareWireFormat

/// The header extensions of one packet that this project knows; nil for those that the packet lacks.
package struct HeaderExtensions: Hashable, Sendable {
    /// The media identification (RFC 9143 §15): at most 16 bytes of UTF-8 in the one-byte form.
    package var mediaIdentification: String?
    /// The transport-wide sequence number.
    package var transportSequenceNumber: TransportSequenceNumber?
    /// The time at which the packet left its sender.
    package var absoluteSendTime: AbsoluteSendTime?
    /// The orientation of the video.
    package var videoOrientation: VideoOrientation?
    /// The minimum and maximum delay before the receiver shows the frame.
    package var playoutDelay: PlayoutDelay?
    /// The content type of the video: a camera's or a screen's.
    package var videoContentType: VideoContentType?
    /// The audio level of the packet.
    package var audioLevel: AudioLevel?
    /// The dependency descriptor of the frame.
    package var dependencyDescriptor: DependencyDescriptor?
    /// The id of the RTP stream among those of its m-line (RFC 8852 §3.1): at most 16 bytes in the one-byte form.
    package var streamIdentification: String?
    /// The id of the RTP stream whose packets are retransmitted (RFC 8852 §3.2).
    package var repairedStreamIdentification: String?

    package init() {}

    /// Creates the known extensions of the packet from which `header` was parsed, with the ids of `map`.
    ///
    /// An element whose length doesn't suit its kind is ignored. An identification of up to 15 bytes requires no
    /// allocation.
    package init(_ header: RTPHeader, in packet: RawSpan, map: HeaderExtensionMap) {
        var reader = HeaderExtensionReader(header, in: packet)
        while let element = reader.next() {
            guard let kind = map.kind(of: element.id) else { continue }
            read(kind, packet.extracting(element.range))
        }
    }

    private mutating func read(_ kind: HeaderExtensionKind, _ bytes: RawSpan) {
        var reader = ByteReader(bytes)
        do {
            switch (kind, bytes.byteCount) {
            case (.mediaIdentification, 1...): mediaIdentification = Self.text(bytes)
            case (.streamIdentification, 1...): streamIdentification = Self.text(bytes)
            case (.repairedStreamIdentification, 1...): repairedStreamIdentification = Self.text(bytes)
            // The second version of the transport-wide extension appends two bytes with a request for feedback.
            case (.transportSequenceNumber, 2), (.transportSequenceNumber, 4):
                transportSequenceNumber = TransportSequenceNumber(try reader.readUInt16())
            case (.absoluteSendTime, 3):
                absoluteSendTime = AbsoluteSendTime(try reader.readUInt24())
            case (.videoOrientation, 1):
                videoOrientation = VideoOrientation(rawValue: try reader.readUInt8())
            case (.playoutDelay, 3):
                playoutDelay = PlayoutDelay(rawValue: try reader.readUInt24())
            case (.videoContentType, 1):
                // The higher bits are the sender's experiment ids.
                videoContentType = VideoContentType(rawValue: try reader.readUInt8() & 1)
            case (.audioLevel, 1):
                audioLevel = AudioLevel(rawValue: try reader.readUInt8())
            case (.dependencyDescriptor, 3...):
                dependencyDescriptor = try DependencyDescriptor(&reader)
            default:
                break
            }
        } catch {
            // The lengths were checked above, so that no read can fail.
            return
        }
    }

    private static func text(_ bytes: RawSpan) -> String {
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// The time at which a packet left its sender: seconds modulo 64, as 6 bits with 18 bits of fraction.
package struct AbsoluteSendTime: Hashable, Sendable {
    /// The 24 bits on the wire.
    package let rawValue: UInt32

    /// Creates the time with these 24 bits on the wire. Higher bits are ignored.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0xFF_FFFF }

    /// Creates the time of an instant.
    package init(_ instant: Instant) {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let units = (seconds & 0x3F) << 18 &+ (rest << 18) / 1_000_000_000
        self.init(UInt32(truncatingIfNeeded: units))
    }

    /// Returns the time from `earlier` to this one, along the shorter direction: between -32 and 32 seconds.
    package func duration(since earlier: AbsoluteSendTime) -> Duration {
        // Shifted by eight bits, the 24-bit values are 32-bit values, whose signed difference is exact.
        let difference = Int32(bitPattern: (rawValue &- earlier.rawValue) << 8) >> 8
        return .nanoseconds((Int64(difference) * 1_000_000_000) >> 18)
    }
}

/// The orientation of a frame (3GPP TS 26.114 §7.4.5): zero bits, the camera, the flip, the rotation.
package struct VideoOrientation: RawRepresentable, Hashable, Sendable {
    /// The byte on the wire.
    package let rawValue: UInt8

    /// Creates the orientation with this byte on the wire. The four high bits are ignored.
    package init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// Creates the orientation of a frame that needs `quarterTurns` clockwise to be upright.
    package init(quarterTurns: Int) {
        self.init(rawValue: UInt8(quarterTurns & 3))
    }

    /// The number of quarter turns clockwise, 0 to 3, after which the frame is upright.
    package var quarterTurns: Int { Int(rawValue & 3) }
}

/// The minimum and the maximum time between capture and display at a receiver.
package struct PlayoutDelay: RawRepresentable, Hashable, Sendable {
    /// The 24 bits on the wire: 12 for the minimum and 12 for the maximum delay, each in 10 milliseconds.
    package let rawValue: UInt32

    /// Creates the delay with these 24 bits on the wire. Higher bits are ignored.
    package init(rawValue: UInt32) { self.rawValue = rawValue & 0xFF_FFFF }

    /// Creates delays, rounded down to 10 milliseconds and limited to 40.95 seconds.
    package init(minimum: Duration, maximum: Duration) {
        self.init(rawValue: Self.units(minimum) << 12 | Self.units(maximum))
    }

    /// The minimum delay.
    package var minimum: Duration { .milliseconds(Int(rawValue >> 12) * 10) }
    /// The maximum delay.
    package var maximum: Duration { .milliseconds(Int(rawValue & 0xFFF) * 10) }

    private static func units(_ duration: Duration) -> UInt32 {
        UInt32(min(0xFFF, max(0, duration.wholeNanoseconds / 10_000_000)))
    }
}

/// The content of video, so that a receiver can choose between smooth and sharp.
package enum VideoContentType: UInt8, Sendable {
    /// A camera's video, or unknown content.
    case unspecified = 0
    /// A screen.
    case screenshare = 1
}
