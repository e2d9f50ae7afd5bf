package import RTCShareWireFormat

/// Generic NACK: packets that a receiver lacks (RFC 4585 §6.2.1).
package struct GenericNACK: Hashable, Sendable {
    /// Who lacks them.
    package var sender: SynchronizationSource
    /// The stream that they belong to.
    package var media: SynchronizationSource
    /// The packets, in the compact form of the wire.
    package var entries: [Entry]

    /// A lost packet, and which of the 16 after it are lost as well.
    package struct Entry: Hashable, Sendable {
        /// PID: a lost packet.
        package var packetID: SequenceNumber
        /// BLP: bit 0 stands for the packet after PID, bit 15 for the sixteenth after it.
        package var followingLost: UInt16

        /// An entry of these values.
        package init(packetID: SequenceNumber, followingLost: UInt16 = 0) {
            self.packetID = packetID
            self.followingLost = followingLost
        }
    }

    /// A message of these entries.
    package init(sender: SynchronizationSource, media: SynchronizationSource, entries: [Entry]) {
        self.sender = sender
        self.media = media
        self.entries = entries
    }

    /// A message that names `lost`, packed best where the numbers ascend.
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

    /// Most entries of one message that are read: no receiver's list is longer within a datagram of usual size.
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

/// PLI: a receiver has lost what it needs to decode on (RFC 4585 §6.3.1).
package struct PictureLossIndication: Hashable, Sendable {
    /// Who says so.
    package var sender: SynchronizationSource
    /// The stream that it can't decode.
    package var media: SynchronizationSource

    /// An indication of these sources.
    package init(sender: SynchronizationSource, media: SynchronizationSource) {
        self.sender = sender
        self.media = media
    }

    init(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
    }
}

/// FIR: a receiver needs a key frame to begin with (RFC 5104 §4.3.1).
package struct FullIntraRequest: Hashable, Sendable {
    /// Who asks.
    package var sender: SynchronizationSource
    /// Not used by FIR: zero. The streams asked are in the entries.
    package var media: SynchronizationSource
    /// One for each stream that is asked.
    package var entries: [Entry]

    /// A request to one stream.
    package struct Entry: Hashable, Sendable {
        /// The stream that is asked for a key frame.
        package var source: SynchronizationSource
        /// Tells a new request from a repeated one: it moves on only with a new request.
        package var sequenceNumber: UInt8

        /// An entry of these values.
        package init(source: SynchronizationSource, sequenceNumber: UInt8) {
            self.source = source
            self.sequenceNumber = sequenceNumber
        }
    }

    /// Most entries of one message that are read: nobody is sent so many streams.
    package static let maximumEntryCount = 64

    /// A request of these entries.
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

/// REMB: how much a receiver believes the path to it can carry (draft-alvestrand-rmcat-remb-03 §2.2).
package struct ReceiverEstimatedMaximumBitrate: Hashable, Sendable {
    /// The SSRC of the receiver that estimates.
    package var sender: SynchronizationSource
    /// The estimate, of all the sources together.
    package var bitrate: DataRate
    /// The streams that share the estimate, at most 255.
    package var sources: [SynchronizationSource]

    /// An estimate for these sources.
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

    /// Nil for application layer feedback of another kind.
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
