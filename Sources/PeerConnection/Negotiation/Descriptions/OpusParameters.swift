package import RTCShareSDP
package import RTCShareWireFormat

/// The parameters of Opus that a description sets for senders to its writer (RFC 7587 §6.1).
///
/// The values come from the peer: invalid values are ignored, and values outside Opus' range are limited to it.
package struct OpusParameters: Hashable, Sendable {
    /// `maxplaybackrate`: the maximum useful sampling rate in Hz; nil for Opus' maximum, 48 kHz.
    package var maximumPlaybackRate: Int?
    /// `maxaveragebitrate`: the maximum average bitrate.
    package var maximumAverageBitrate: DataRate?
    /// Whether the receiver prefers two channels (`stereo`).
    package var isStereo = false
    /// Whether the bitrate must be constant (`cbr`).
    package var isConstantBitrate = false
    /// Whether the receiver can recover lost packets from in-band FEC (`useinbandfec`).
    package var usesInbandFEC = false
    /// Whether silence can be omitted (`usedtx`).
    package var usesDTX = false
    /// `ptime`: the preferred duration of a packet.
    package var packetTime: Duration?
    /// `maxptime`: the maximum duration of a packet; nil for Opus' maximum of 120 ms.
    package var maximumPacketTime: Duration?
    /// `minptime`: the minimum duration of a packet.
    package var minimumPacketTime: Duration?

    /// Creates the defaults of RFC 7587: one channel, no FEC, no DTX, no limits.
    package init() {}

    /// Parses the value of an `a=fmtp` line; nil gives the defaults.
    package init(_ attribute: FormatParametersAttribute?) {
        guard let attribute else { return }
        // Below 8 kHz Opus does not save bitrate, and 48 kHz is not a limit.
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

    /// Parses a section's parameters of a payload type: its `a=fmtp` line, and `a=ptime` and `a=maxptime`, which
    /// contain those parameters in SDP (RFC 7587 §7).
    init(of payloadType: UInt8, in media: MediaDescription) throws(SDPError) {
        self.init(try media.formatParameters(of: payloadType))
        func time(_ name: String) -> Duration? {
            Self.time(media.attribute(name)?.attributeValue.map { String($0) })
        }
        packetTime = time("ptime") ?? packetTime
        maximumPacketTime = time("maxptime") ?? maximumPacketTime
    }

    /// The value of an `a=fmtp` line without the payload type: the parameters that differ from the defaults.
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

    /// The range of sampling rates in Hz, from narrowband to fullband.
    private static let playbackRates = 8000...48_000
    /// The range of bitrates in bits per second (RFC 7587 §6.1).
    private static let bitrates = 6000...510_000
    /// The range of packet durations in milliseconds; 2.5 ms are written as 3.
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
