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

    static let mantissaBitCount = 18

    /// Parses an estimate. Returns nil for application layer feedback of another kind.
    init?(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        _ = try reader.source(.mediaSource)
        guard reader.remaining >= 4, try reader.uint32(.feedbackControl) == Self.identifier else { return nil }
        let count = Int(try reader.uint8(.feedbackControl))
        bitrate = DataRate(
            exponentAndMantissa: try reader.uint24(.feedbackControl), mantissaBitCount: Self.mantissaBitCount)
        var sources: [SynchronizationSource] = []
        for _ in 0..<count { sources.append(try reader.source(.feedbackControl)) }
        self.sources = sources
    }
}

/// TMMBR and TMMBN: limits of the bitrates of streams, which receivers request and senders keep to (RFC 5104 §4.2).
package struct TemporaryMaximumBitrate: Hashable, Sendable {
    /// Whether a sender announces the limits that it keeps to (TMMBN). Otherwise a receiver requests them (TMMBR).
    package var isNotification: Bool
    /// The receiver that requests the limits, or the stream that keeps to them.
    package var sender: SynchronizationSource
    /// A field that these messages do not use: zero.
    package var media: SynchronizationSource
    /// The limits. A notification without any says that there is none.
    package var entries: [Entry]

    /// A limit of one stream.
    package struct Entry: Hashable, Sendable {
        /// The limited stream in a request, and in a notification the receiver that has requested the limit.
        package var source: SynchronizationSource
        /// The maximum bitrate with the overhead of packets; zero pauses the stream.
        package var bitrate: DataRate
        /// The overhead of a packet that the receiver has measured, in bytes, at most 511.
        package var overhead: UInt16

        package init(source: SynchronizationSource, bitrate: DataRate, overhead: UInt16 = 0) {
            self.source = source
            self.bitrate = bitrate
            self.overhead = overhead
        }
    }

    /// The maximum number of entries that are read from one message. No peer receives so many streams.
    package static let maximumEntryCount = 64
    static let mantissaBitCount = 17
    static let overheadBitCount = 9

    package init(isNotification: Bool = false, sender: SynchronizationSource, entries: [Entry]) {
        self.isNotification = isNotification
        self.sender = sender
        self.media = SynchronizationSource(0)
        self.entries = entries
    }

    init(_ reader: inout FieldReader, isNotification: Bool) throws(RTPError) {
        self.isNotification = isNotification
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
        var entries: [Entry] = []
        while reader.remaining > 0 {
            guard entries.count < Self.maximumEntryCount else {
                throw .tooMany(.feedbackControl, limit: Self.maximumEntryCount, offset: reader.offset)
            }
            let source = try reader.source(.feedbackControl)
            let packed = try reader.uint32(.feedbackControl)
            let bitrate = DataRate(
                exponentAndMantissa: packed >> UInt32(Self.overheadBitCount), mantissaBitCount: Self.mantissaBitCount)
            entries.append(Entry(source: source, bitrate: bitrate, overhead: UInt16(packed & 0x1FF)))
        }
        self.entries = entries
    }
}

extension DataRate {
    /// Creates a rate from an exponent of six bits and a mantissa; the largest rate if it exceeds that.
    init(exponentAndMantissa packed: UInt32, mantissaBitCount: Int) {
        let mantissa = UInt64(packed & (1 << UInt32(mantissaBitCount) - 1))
        let exponent = UInt64(packed >> UInt32(mantissaBitCount))
        let fits = mantissa == 0 || Int(exponent) < mantissa.leadingZeroBitCount
        self = .bitsPerSecond(fits ? mantissa << exponent : UInt64.max)
    }

    /// Returns the rate as an exponent of six bits and a mantissa, rounded down.
    func exponentAndMantissa(mantissaBitCount: Int) -> UInt32 {
        let bits = UInt64(max(0, bitsPerSecond))
        let exponent = max(0, 64 - mantissaBitCount - bits.leadingZeroBitCount)
        return UInt32(exponent) << UInt32(mantissaBitCount) | UInt32(truncatingIfNeeded: bits >> UInt64(exponent))
    }
}
