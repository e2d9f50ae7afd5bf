/// What may stand in the session and in a media section alike. An accessor throws at the line that is malformed.
extension SDPSection {
    /// `a=setup`.
    package func setup() throws(SDPError) -> SetupAttribute? {
        try first(.setup) { SetupAttribute(rawValue: $0.lowercased()) }
    }

    /// All `a=fingerprint` lines.
    package func fingerprints() throws(SDPError) -> [FingerprintAttribute] {
        try all(.fingerprint) { FingerprintAttribute($0) }
    }

    /// `a=ice-ufrag`.
    package func iceUsernameFragment() throws(SDPError) -> String? {
        try first(.usernameFragment) { $0.isUsernameFragment ? String($0) : nil }
    }

    /// `a=ice-pwd`. A secret: never log it.
    package func icePassword() throws(SDPError) -> String? {
        try first(.password) { $0.isICEPassword ? String($0) : nil }
    }

    /// The words of `a=ice-options`; none where there is no such line.
    package func iceOptions() -> [String] {
        attributes("ice-options").flatMap { $0.attributeValue?.fields.map(String.init) ?? [] }
    }

    /// All `a=extmap` lines.
    package func extensionMaps() throws(SDPError) -> [ExtensionMapAttribute] {
        try all(.extmap) { ExtensionMapAttribute($0) }
    }

    /// The direction, where a line says one.
    package var direction: DirectionAttribute? {
        for line in lines {
            guard line.attributeValue == nil, let name = line.attributeName else { continue }
            if let direction = DirectionAttribute(rawValue: String(name)) { return direction }
        }
        return nil
    }
}

/// What stands in the session only.
extension SessionDescription {
    /// All `a=group` lines.
    package func groups() throws(SDPError) -> [GroupAttribute] {
        try all(.group, GroupAttribute.init)
    }

    /// The first `a=group:BUNDLE` line (RFC 9143 §5).
    package func bundle() throws(SDPError) -> GroupAttribute? {
        try groups().first { $0.semantics == "BUNDLE" }
    }

    /// Whether `a=ice-lite` is there (RFC 8839 §5.3).
    package var isICELite: Bool { has("ice-lite") }

    /// The ICE credentials that hold for a section: its own, else the session's; nil where either part is missing.
    package func iceAttributes(of section: MediaDescription) throws(SDPError) -> ICEAttributes? {
        let fragment: String? =
            if let own = try section.iceUsernameFragment() { own } else { try iceUsernameFragment() }
        let password: String? = if let own = try section.icePassword() { own } else { try icePassword() }
        guard let fragment, let password else { return nil }
        return ICEAttributes(usernameFragment: fragment, password: password)
    }

    /// The fingerprints that hold for a section: its own, else the session's (RFC 8122 §5).
    package func fingerprints(of section: MediaDescription) throws(SDPError) -> [FingerprintAttribute] {
        let own = try section.fingerprints()
        return own.isEmpty ? try fingerprints() : own
    }

    /// The setup role that holds for a section: its own, else the session's.
    package func setup(of section: MediaDescription) throws(SDPError) -> SetupAttribute? {
        if let own = try section.setup() { return own }
        return try setup()
    }

    /// The direction that holds for a section: its own, else the session's; nil where neither says one.
    package func direction(of section: MediaDescription) -> DirectionAttribute? {
        section.direction ?? direction
    }

    /// The header extensions that hold for a section: its own, then the session's.
    package func extensionMaps(of section: MediaDescription) throws(SDPError) -> [ExtensionMapAttribute] {
        try section.extensionMaps() + extensionMaps()
    }
}

/// What stands in a media section only.
extension MediaDescription {
    /// `a=mid` (RFC 5888 §4).
    package func mid() throws(SDPError) -> String? {
        try first(.mid) { $0.isToken ? String($0) : nil }
    }

    /// All `a=msid` lines: a track may belong to several streams.
    package func mediaStreams() throws(SDPError) -> [MediaStreamAttribute] {
        try all(.msid, MediaStreamAttribute.init)
    }

    /// Whether RTP and RTCP share a port: `a=rtcp-mux` (RFC 5761 §5.1.1).
    package var hasRTCPMux: Bool { has("rtcp-mux") }

    /// `a=rtcp-rsize`: RTCP packets need not begin with a report (RFC 5506 §5).
    package var hasReducedSizeRTCP: Bool { has("rtcp-rsize") }

    /// `a=rtcp`.
    package func rtcp() throws(SDPError) -> RTCPAttribute? {
        try first(.rtcp, RTCPAttribute.init)
    }

    /// All `a=candidate` lines.
    package func candidates() throws(SDPError) -> [CandidateAttribute] {
        try all(.candidate) { CandidateAttribute($0) }
    }

    /// `a=end-of-candidates` (RFC 8840 §8.2).
    package var hasEndOfCandidates: Bool { has("end-of-candidates") }

    /// All `a=rtpmap` lines.
    package func rtpMaps() throws(SDPError) -> [RTPMapAttribute] {
        try all(.rtpmap, RTPMapAttribute.init)
    }

    /// Throws at the first `a=rtpmap` line without a clock rate, which may be why no codec was found.
    package func checkClockRates() throws(SDPError) {
        _ = try all(.rtpmap) { RTPMapAttribute($0).flatMap { $0.clockRate > 0 ? $0 : nil } }
    }

    /// All `a=fmtp` lines.
    package func formatParameters() throws(SDPError) -> [FormatParametersAttribute] {
        try all(.fmtp, FormatParametersAttribute.init)
    }

    /// The parameters of a payload type.
    package func formatParameters(of payloadType: UInt8) throws(SDPError) -> FormatParametersAttribute? {
        try formatParameters().first { $0.format == String(payloadType) }
    }

    /// All `a=rtcp-fb` lines.
    package func feedback() throws(SDPError) -> [FeedbackAttribute] {
        try all(.feedback, FeedbackAttribute.init)
    }

    /// The kinds of feedback for a payload type, those for all (`*`) included.
    package func feedback(for payloadType: UInt8) throws(SDPError) -> Set<FeedbackKind> {
        Set(try feedback().filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.kind))
    }

    /// All `a=ssrc` lines.
    package func sources() throws(SDPError) -> [SourceAttribute] {
        try all(.ssrc, SourceAttribute.init)
    }

    /// All `a=ssrc-group` lines.
    package func sourceGroups() throws(SDPError) -> [SourceGroupAttribute] {
        try all(.sourceGroup, SourceGroupAttribute.init)
    }

    /// The words of `a=content`, such as `slides` (RFC 4796 §4).
    package func content() throws(SDPError) -> [String] {
        let words = try first(.content) { text -> [String]? in
            let words = text.parts(at: ",")
            return words.allSatisfy(\.isToken) ? words.map(String.init) : nil
        }
        return words ?? []
    }
}
