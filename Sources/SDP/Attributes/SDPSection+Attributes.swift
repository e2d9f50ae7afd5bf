/// Attributes of the session and of media sections. An accessor throws an error at the line that is malformed.
extension SDPSection {
    /// Returns the value of `a=setup`.
    package func setup() throws(SDPError) -> SetupAttribute? {
        try first(.setup) { SetupAttribute(rawValue: $0.lowercased()) }
    }

    /// Returns the values of all `a=fingerprint` lines.
    package func fingerprints() throws(SDPError) -> [FingerprintAttribute] {
        try all(.fingerprint) { FingerprintAttribute($0) }
    }

    /// Returns the value of `a=ice-ufrag`.
    package func iceUsernameFragment() throws(SDPError) -> String? {
        try first(.usernameFragment) { $0.isUsernameFragment ? String($0) : nil }
    }

    /// Returns the value of `a=ice-pwd`, which is secret: never log it.
    package func icePassword() throws(SDPError) -> String? {
        try first(.password) { $0.isICEPassword ? String($0) : nil }
    }

    /// Returns the words of all `a=ice-options` lines.
    package func iceOptions() -> [String] {
        attributes("ice-options").flatMap { $0.attributeValue?.fields.map(String.init) ?? [] }
    }

    /// Returns the values of all `a=extmap` lines.
    package func extensionMaps() throws(SDPError) -> [ExtensionMapAttribute] {
        try all(.extmap) { ExtensionMapAttribute($0) }
    }

    /// The first direction attribute, if there is one.
    package var direction: DirectionAttribute? {
        for line in lines {
            guard line.attributeValue == nil, let name = line.attributeName else { continue }
            if let direction = DirectionAttribute(rawValue: String(name)) { return direction }
        }
        return nil
    }
}

/// Attributes that only the session has.
extension SessionDescription {
    /// Returns the values of all `a=group` lines.
    package func groups() throws(SDPError) -> [GroupAttribute] {
        try all(.group, GroupAttribute.init)
    }

    /// Returns the first `a=group:BUNDLE` (RFC 9143 §5).
    package func bundle() throws(SDPError) -> GroupAttribute? {
        try groups().first { $0.semantics == "BUNDLE" }
    }

    /// Whether the session has `a=ice-lite` (RFC 8839 §5.3).
    package var isICELite: Bool { has("ice-lite") }

    /// Returns the ICE credentials of a section: its own or else the session's; nil if either part is missing.
    package func iceAttributes(of section: MediaDescription) throws(SDPError) -> ICEAttributes? {
        let fragment: String? =
            if let own = try section.iceUsernameFragment() { own } else { try iceUsernameFragment() }
        let password: String? = if let own = try section.icePassword() { own } else { try icePassword() }
        guard let fragment, let password else { return nil }
        return ICEAttributes(usernameFragment: fragment, password: password)
    }

    /// Returns the fingerprints of a section: its own or else the session's (RFC 8122 §5).
    package func fingerprints(of section: MediaDescription) throws(SDPError) -> [FingerprintAttribute] {
        let own = try section.fingerprints()
        return own.isEmpty ? try fingerprints() : own
    }

    /// Returns the setup role of a section: its own or else the session's.
    package func setup(of section: MediaDescription) throws(SDPError) -> SetupAttribute? {
        if let own = try section.setup() { return own }
        return try setup()
    }

    /// Returns the direction of a section: its own or else the session's; nil if neither has one.
    package func direction(of section: MediaDescription) -> DirectionAttribute? {
        section.direction ?? direction
    }

    /// Returns the header extensions of a section: its own and then the session's.
    package func extensionMaps(of section: MediaDescription) throws(SDPError) -> [ExtensionMapAttribute] {
        try section.extensionMaps() + extensionMaps()
    }
}

/// Attributes that only a media section has.
extension MediaDescription {
    /// Returns the value of `a=mid` (RFC 5888 §4).
    package func mid() throws(SDPError) -> String? {
        try first(.mid) { $0.isToken ? String($0) : nil }
    }

    /// Returns the values of all `a=msid` lines: a track can belong to several streams.
    package func mediaStreams() throws(SDPError) -> [MediaStreamAttribute] {
        try all(.msid, MediaStreamAttribute.init)
    }

    /// Whether RTP and RTCP share a port, as `a=rtcp-mux` signals (RFC 5761 §5.1.1).
    package var hasRTCPMux: Bool { has("rtcp-mux") }

    /// Whether RTCP packets need not begin with a report, as `a=rtcp-rsize` signals (RFC 5506 §5).
    package var hasReducedSizeRTCP: Bool { has("rtcp-rsize") }

    /// Returns the value of `a=rtcp`.
    package func rtcp() throws(SDPError) -> RTCPAttribute? {
        try first(.rtcp, RTCPAttribute.init)
    }

    /// Returns the values of all `a=candidate` lines.
    package func candidates() throws(SDPError) -> [CandidateAttribute] {
        try all(.candidate) { CandidateAttribute($0) }
    }

    /// Whether the section has `a=end-of-candidates` (RFC 8840 §8.2).
    package var hasEndOfCandidates: Bool { has("end-of-candidates") }

    /// Returns the values of all `a=rtpmap` lines.
    package func rtpMaps() throws(SDPError) -> [RTPMapAttribute] {
        try all(.rtpmap, RTPMapAttribute.init)
    }

    /// Throws at the first `a=rtpmap` line without a clock rate, which may be why no codec was found.
    package func checkClockRates() throws(SDPError) {
        _ = try all(.rtpmap) { RTPMapAttribute($0).flatMap { $0.clockRate > 0 ? $0 : nil } }
    }

    /// Returns the values of all `a=fmtp` lines.
    package func formatParameters() throws(SDPError) -> [FormatParametersAttribute] {
        try all(.fmtp, FormatParametersAttribute.init)
    }

    /// Returns the parameters of a payload type, of all its `a=fmtp` lines.
    package func formatParameters(of payloadType: UInt8) throws(SDPError) -> FormatParametersAttribute? {
        let lines = try formatParameters().filter { $0.format == String(payloadType) }
        return lines.first.map { lines.dropFirst().reduce($0, +) }
    }

    /// Returns the values of all `a=rtcp-fb` lines.
    package func feedback() throws(SDPError) -> [FeedbackAttribute] {
        try all(.feedback, FeedbackAttribute.init)
    }

    /// Returns the kinds of feedback for a payload type, including those for all payload types (`*`).
    package func feedback(for payloadType: UInt8) throws(SDPError) -> Set<FeedbackKind> {
        Set(try feedback().filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.kind))
    }

    /// Returns the values of all `a=ssrc` lines.
    package func sources() throws(SDPError) -> [SourceAttribute] {
        try all(.ssrc, SourceAttribute.init)
    }

    /// Returns the values of all `a=ssrc-group` lines.
    package func sourceGroups() throws(SDPError) -> [SourceGroupAttribute] {
        try all(.sourceGroup, SourceGroupAttribute.init)
    }

    /// Returns the values of all `a=rid` lines.
    package func rtpStreams() throws(SDPError) -> [RTPStreamAttribute] {
        try all(.rid, RTPStreamAttribute.init)
    }

    /// Returns the value of `a=simulcast`.
    package func simulcast() throws(SDPError) -> SimulcastAttribute? {
        try first(.simulcast, SimulcastAttribute.init)
    }

    /// Returns the words of `a=content`, such as `slides` (RFC 4796 §4).
    package func content() throws(SDPError) -> [String] {
        let words = try first(.content) { text -> [String]? in
            let words = text.parts(at: ",")
            return words.allSatisfy(\.isToken) ? words.map(String.init) : nil
        }
        return words ?? []
    }
}
