package import RTCShareWireFormat

/// Generic NACK: packets that a receiver lacks (RFC 4585 §6.2.1).
package struct GenericNACK: Hashable, Sendable {
    /// The receiver that lacks the packets.
    package var sender: SynchronizationSource
    /// The stream of the packets.
    package var media: SynchronizationSource
    /// The lost packets, in the compact format of the wire.
    package var entries: [Entry]

    /// A lost packet and a bit mask of lost packets among the 16 after it.
    package struct Entry: Hashable, Sendable {
        /// PID: a lost packet.
        package var packetID: SequenceNumber
        /// BLP: bit 0 represents the packet after PID, bit 15 the sixteenth packet after it.
        package var followingLost: UInt16

        package init(packetID: SequenceNumber, followingLost: UInt16 = 0) {
            self.packetID = packetID
            self.followingLost = followingLost
        }
    }

    package init(sender: SynchronizationSource, media: SynchronizationSource, entries: [Entry]) {
        self.sender = sender
        self.media = media
        self.entries = entries
    }

    /// Creates a message that names the packets in `lost`. It is most compact if the numbers ascend.
    package init(
        sender: SynchronizationSource, media: SynchronizationSource, lost: some Sequence<SequenceNumber>
    ) {
        self.init(sender: sender, media: media, entries: [])
        for number in lost {
            let distance = entries.last.map { number.distance(from: $0.packetID) }
            switch distance {
            case 0: continue
            case .some(let bit) where (1...16).contains(bit):
                entries[entries.count - 1].followingLost |= 1 << UInt16(bit - 1)
            default: entries.append(Entry(packetID: number))
            }
        }
    }

    /// The lost packets, in the order of the entries.
    package var lost: [SequenceNumber] {
        var numbers: [SequenceNumber] = []
        for entry in entries {
            numbers.append(entry.packetID)
            for bit in 0..<16 where entry.followingLost & 1 << UInt16(bit) != 0 {
                numbers.append(entry.packetID.advanced(by: bit + 1))
            }
        }
        return numbers
    }

    /// The maximum number of entries that are read from one message. No receiver's list in a datagram of usual size is
    /// longer.
    package static let maximumEntryCount = 512

    init(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
        var entries: [Entry] = []
        while reader.remaining > 0 {
            guard entries.count < Self.maximumEntryCount else {
                throw .tooMany(.feedbackControl, limit: Self.maximumEntryCount, offset: reader.offset)
            }
            let packetID = SequenceNumber(try reader.uint16(.feedbackControl))
            entries.append(Entry(packetID: packetID, followingLost: try reader.uint16(.feedbackControl)))
        }
        self.entries = entries
    }
}

/// PLI: a receiver has lost data that it needs to continue decoding (RFC 4585 §6.3.1).
package struct PictureLossIndication: Hashable, Sendable {
    /// The receiver that sends the indication.
    package var sender: SynchronizationSource
    /// The stream that the receiver can't decode.
    package var media: SynchronizationSource

    package init(sender: SynchronizationSource, media: SynchronizationSource) {
        self.sender = sender
        self.media = media
    }

    init(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
    }
}

/// FIR: a receiver needs a key frame to start decoding (RFC 5104 §4.3.1).
package struct FullIntraRequest: Hashable, Sendable {
    /// The receiver that sends the request.
    package var sender: SynchronizationSource
    /// A field that FIR does not use: zero. The entries name the streams.
    package var media: SynchronizationSource
    /// The requests, one for each stream.
    package var entries: [Entry]

    /// A request to one stream.
    package struct Entry: Hashable, Sendable {
        /// The stream whose key frame is requested.
        package var source: SynchronizationSource
        /// A number that distinguishes a new request from a repeated one: it changes only with a new request.
        package var sequenceNumber: UInt8

        package init(source: SynchronizationSource, sequenceNumber: UInt8) {
            self.source = source
            self.sequenceNumber = sequenceNumber
        }
    }

    /// The maximum number of entries that are read from one message. No peer receives so many streams.
    package static let maximumEntryCount = 64

    package init(sender: SynchronizationSource, entries: [Entry]) {
        self.sender = sender
        self.media = SynchronizationSource(0)
        self.entries = entries
    }

    init(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
        var entries: [Entry] = []
        while reader.remaining > 0 {
            guard entries.count < Self.maximumEntryCount else {
                throw .tooMany(.feedbackControl, limit: Self.maximumEntryCount, offset: reader.offset)
            }
            let source = try reader.source(.feedbackControl)
            entries.append(Entry(source: source, sequenceNumber: try reader.uint8(.feedbackControl)))
            try reader.skip(3, .feedbackControl)
        }
        self.entries = entries
    }
}

/// REMB: a receiver's estimate of the bitrate that the path to it can carry (draft-alvestrand-rmcat-remb-03 §2.2).
package struct ReceiverEstimatedMaximumBitrate: Hashable, Sendable {
    /// The SSRC of the receiver that estimates.
    package var sender: SynchronizationSource
    /// The estimated bitrate of all the sources together.
    package var bitrate: DataRate
    /// The streams to which the estimate applies, at most 255.
    package var sources: [SynchronizationSource]

    package init(sender: SynchronizationSource, bitrate: DataRate, sources: [SynchronizationSource]) {
        self.sender = sender
        self.bitrate = bitrate
        self.sources = sources
    }

    static let identifier: UInt32 = 0x5245_4D42

    /// The estimate as a 6-bit exponent and an 18-bit mantissa, rounded down.
    var exponentAndMantissa: UInt32 {
        let bits = UInt64(max(0, bitrate.bitsPerSecond))
        let exponent = max(0, 64 - 18 - bits.leadingZeroBitCount)
        return UInt32(exponent) << 18 | UInt32(truncatingIfNeeded: bits >> UInt64(exponent))
    }

    /// Parses an estimate. Returns nil for application layer feedback of another kind.
    init?(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        _ = try reader.source(.mediaSource)
        guard reader.remaining >= 4, try reader.uint32(.feedbackControl) == Self.identifier else { return nil }
        let count = Int(try reader.uint8(.feedbackControl))
        let packed = try reader.uint24(.feedbackControl)
        let mantissa = UInt64(packed & 0x3_FFFF)
        let exponent = UInt64(packed >> 18)
        let fits = mantissa == 0 || Int(exponent) < mantissa.leadingZeroBitCount
        bitrate = .bitsPerSecond(fits ? mantissa << exponent : UInt64.max)
        var sources: [SynchronizationSource] = []
        for _ in 0..<count { sources.append(try reader.source(.feedbackControl)) }
        self.sources = sources
    }
}
