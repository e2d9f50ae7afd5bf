package import RTCShareSDP
package import RTCShareWireFormat

/// What a description asks of those who send Opus to its writer (RFC 7587 §6.1).
///
/// Values come from the peer: what is no number, or no number that means anything, is as if it were not there; what goes
/// beyond Opus' own range is held to it.
package struct OpusParameters: Hashable, Sendable {
    /// `maxplaybackrate`: the highest sampling rate in Hz that is of use; nil for all that Opus has, 48 kHz.
    package var maximumPlaybackRate: Int?
    /// `maxaveragebitrate`: the highest rate on average.
    package var maximumAverageBitrate: DataRate?
    /// `stereo`: whether two channels are wanted.
    package var isStereo = false
    /// `cbr`: whether the rate is to be constant.
    package var isConstantBitrate = false
    /// `useinbandfec`: whether lost packets can be made up for from the ones after them.
    package var usesInbandFEC = false
    /// `usedtx`: whether silence may go unsent.
    package var usesDTX = false
    /// `ptime`: the sound that a packet is to hold.
    package var packetTime: Duration?
    /// `maxptime`: the most sound that a packet may hold; nil for Opus' own limit of 120 ms.
    package var maximumPacketTime: Duration?
    /// `minptime`: the least sound that a packet is to hold.
    package var minimumPacketTime: Duration?

    /// The defaults of RFC 7587: one channel, no FEC, no DTX, nothing limited.
    package init() {}

    /// Reads the value of an `a=fmtp` line; none is the defaults.
    package init(_ attribute: FormatParametersAttribute?) {
        guard let attribute else { return }
        // Below 8 kHz there is nothing that Opus could do more sparingly; 48 kHz limits nothing.
        maximumPlaybackRate = Self.number(attribute["maxplaybackrate"])
            .flatMap { $0 >= Self.playbackRates.upperBound ? nil : max($0, Self.playbackRates.lowerBound) }
        maximumAverageBitrate = Self.number(attribute["maxaveragebitrate"])
            .map { .bitsPerSecond(min(max($0, Self.bitrates.lowerBound), Self.bitrates.upperBound)) }
        isStereo = attribute["stereo"] == "1"
        isConstantBitrate = attribute["cbr"] == "1"
        usesInbandFEC = attribute["useinbandfec"] == "1"
        usesDTX = attribute["usedtx"] == "1"
        packetTime = Self.time(attribute["ptime"])
        maximumPacketTime = Self.time(attribute["maxptime"])
        minimumPacketTime = Self.time(attribute["minptime"])
    }

    /// Reads what a section says of a payload type: in its `a=fmtp` line, and in `a=ptime` and `a=maxptime`, to which
    /// those parameters belong in SDP (RFC 7587 §7).
    init(of payloadType: UInt8, in media: MediaDescription) throws(SDPError) {
        self.init(try media.formatParameters(of: payloadType))
        func time(_ name: String) -> Duration? {
            Self.time(media.attribute(name)?.attributeValue.map { String($0) })
        }
        packetTime = time("ptime") ?? packetTime
        maximumPacketTime = time("maxptime") ?? maximumPacketTime
    }

    /// The value of an `a=fmtp` line without the payload type: what differs from the defaults. Empty where nothing does.
    package var formatParameters: String {
        var items: [String] = []
        func add(_ name: String, _ value: (some BinaryInteger)?) {
            if let value { items.append("\(name)=\(value)") }
        }
        add("minptime", minimumPacketTime.map(Self.milliseconds))
        add("ptime", packetTime.map(Self.milliseconds))
        add("maxptime", maximumPacketTime.map(Self.milliseconds))
        add("maxplaybackrate", maximumPlaybackRate)
        add("maxaveragebitrate", maximumAverageBitrate?.bitsPerSecond)
        if usesInbandFEC { items.append("useinbandfec=1") }
        if isStereo { items.append("stereo=1") }
        if isConstantBitrate { items.append("cbr=1") }
        if usesDTX { items.append("usedtx=1") }
        return items.joined(separator: ";")
    }

    /// In Hz, from narrowband to fullband.
    private static let playbackRates = 8000...48_000
    /// In bits a second (RFC 7587 §6.1).
    private static let bitrates = 6000...510_000
    /// In milliseconds; 2.5 ms are written as 3.
    private static let packetTimes = 3...120

    private static func number(_ text: String?) -> Int? {
        text.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func time(_ text: String?) -> Duration? {
        number(text).map { .milliseconds(min(max($0, packetTimes.lowerBound), packetTimes.upperBound)) }
    }

    private static func milliseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
    }
}
