package import RTCShareWireFormat

/// The header extensions of one packet, those that are known here; nil for what the packet doesn't carry.
package struct HeaderExtensions: Hashable, Sendable {
    /// The media identification (RFC 9143 §15): at most 16 bytes of UTF-8 in the one-byte form.
    package var mediaIdentification: String?
    /// The transport-wide sequence number.
    package var transportSequenceNumber: TransportSequenceNumber?
    /// When the packet left its sender.
    package var absoluteSendTime: AbsoluteSendTime?
    /// How the picture stands.
    package var videoOrientation: VideoOrientation?
    /// How long the receiver may keep frames.
    package var playoutDelay: PlayoutDelay?
    /// Whether the video is a camera's or a screen's.
    package var videoContentType: VideoContentType?
    /// How loud the packet's sound is.
    package var audioLevel: AudioLevel?

    /// No extensions.
    package init() {}

    /// The known extensions of the packet that `header` was parsed from, by the ids of `map`.
    ///
    /// An element whose length doesn't suit its kind is passed over. Nothing is allocated for an identification of up
    /// to 15 bytes.
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
            case (.mediaIdentification, 1...):
                mediaIdentification = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            // The second version of the transport-wide extension appends two bytes about wanted feedback.
            case (.transportSequenceNumber, 2), (.transportSequenceNumber, 4):
                transportSequenceNumber = TransportSequenceNumber(try reader.readUInt16())
            case (.absoluteSendTime, 3):
                absoluteSendTime = AbsoluteSendTime(try reader.readUInt24())
            case (.videoOrientation, 1):
                videoOrientation = VideoOrientation(rawValue: try reader.readUInt8())
            case (.playoutDelay, 3):
                playoutDelay = PlayoutDelay(rawValue: try reader.readUInt24())
            case (.videoContentType, 1):
                // The higher bits number a sender's experiments.
                videoContentType = VideoContentType(rawValue: try reader.readUInt8() & 1)
            case (.audioLevel, 1):
                audioLevel = AudioLevel(rawValue: try reader.readUInt8())
            default:
                break
            }
        } catch {
            // The counts above are what the reads take.
            return
        }
    }
}

/// When a packet left its sender: seconds modulo 64, as 6 bits with 18 bits of fraction.
package struct AbsoluteSendTime: Hashable, Sendable {
    /// The 24 bits on the wire.
    package let rawValue: UInt32

    /// The time with these 24 bits on the wire; higher bits are left aside.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0xFF_FFFF }

    /// The time that stands for an instant.
    package init(_ instant: Instant) {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let units = (seconds & 0x3F) << 18 &+ (rest << 18) / 1_000_000_000
        self.init(UInt32(truncatingIfNeeded: units))
    }

    /// The time from `earlier` to this one, the shorter way round: between -32 and 32 seconds.
    package func duration(since earlier: AbsoluteSendTime) -> Duration {
        // Shifted up by eight bits the 24-bit circle is the 32-bit one, whose signed difference is exact.
        let difference = Int32(bitPattern: (rawValue &- earlier.rawValue) << 8) >> 8
        return .nanoseconds((Int64(difference) * 1_000_000_000) >> 18)
    }
}

/// How a picture stands (3GPP TS 26.114 §7.4.5): zero bits, the camera, the flip, the rotation.
package struct VideoOrientation: RawRepresentable, Hashable, Sendable {
    /// The byte on the wire.
    package let rawValue: UInt8

    /// The orientation with this byte on the wire; the four high bits are left aside.
    package init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// A picture that must be turned clockwise by `quarterTurns` to stand upright.
    package init(quarterTurns: Int) {
        self.init(rawValue: UInt8(quarterTurns & 3))
    }

    /// Quarter turns clockwise that make the picture stand upright, 0 to 3.
    package var quarterTurns: Int { Int(rawValue & 3) }
}

/// The least and the greatest time that a receiver may let pass between capture and display.
package struct PlayoutDelay: RawRepresentable, Hashable, Sendable {
    /// The 24 bits on the wire: 12 for the least and 12 for the greatest delay, each in 10 milliseconds.
    package let rawValue: UInt32

    /// The delay with these 24 bits on the wire; higher bits are left aside.
    package init(rawValue: UInt32) { self.rawValue = rawValue & 0xFF_FFFF }

    /// Delays, rounded down to 10 milliseconds and held to 40.95 seconds.
    package init(minimum: Duration, maximum: Duration) {
        self.init(rawValue: Self.units(minimum) << 12 | Self.units(maximum))
    }

    /// The least delay.
    package var minimum: Duration { .milliseconds(Int(rawValue >> 12) * 10) }
    /// The greatest delay.
    package var maximum: Duration { .milliseconds(Int(rawValue & 0xFFF) * 10) }

    private static func units(_ duration: Duration) -> UInt32 {
        UInt32(min(0xFFF, max(0, duration.wholeNanoseconds / 10_000_000)))
    }
}

/// What video shows, so that a receiver can choose between smooth and sharp.
package enum VideoContentType: UInt8, Sendable {
    /// A camera's picture, or not said.
    case unspecified = 0
    /// A screen.
    case screenshare = 1
}
