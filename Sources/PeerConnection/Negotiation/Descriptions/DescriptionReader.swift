internal import RTCShareSDP
internal import RTCShareWireFormat

/// Reads one of the two descriptions, and throws errors that name it.
struct DescriptionReader {
    let side: NegotiationError.Side
    let session: SessionDescription
    private let inherited: InheritedAttributes

    init(side: NegotiationError.Side, session: SessionDescription) {
        self.init(side: side, session: session, inherited: InheritedAttributes(session))
    }

    /// Creates a reader with the inherited attributes.
    init(side: NegotiationError.Side, session: SessionDescription, inherited: InheritedAttributes) {
        self.side = side
        self.session = session
        self.inherited = inherited
    }

    /// Returns the `a=mid` of the bundle's sections, in its order; nil if there is no bundle.
    func bundle() throws(NegotiationError) -> [String]? {
        try read { () throws(SDPError) in try session.bundle() }?.mids
    }

    var bundleLine: SDPLine? {
        session.attributes("group").first { $0.attributeValue?.hasPrefix("BUNDLE") == true }
    }

    func mid(_ media: MediaDescription) throws(NegotiationError) -> String? {
        try read { () throws(SDPError) in try media.mid() }
    }

    /// Calls a reader of attributes, and throws errors that name the description.
    func read<Value>(_ body: () throws(SDPError) -> Value) throws(NegotiationError) -> Value {
        do {
            return try body()
        } catch {
            throw NegotiationError(side, error)
        }
    }

    func ice(of media: MediaDescription) throws(NegotiationError) -> ICEAttributes {
        guard let ice = try read({ () throws(SDPError) in try session.iceAttributes(of: media) }) else {
            throw NegotiationError(side, media.line, .iceCredentialsMissing)
        }
        return ice
    }

    func strongFingerprints(of media: MediaDescription) throws(NegotiationError) -> [FingerprintAttribute] {
        let all = try read { () throws(SDPError) in try session.fingerprints(of: media) }
        guard !all.isEmpty else { throw NegotiationError(side, media.line, .fingerprintMissing) }
        let strong = all.filter(\.isStrong)
        guard !strong.isEmpty else {
            let line = media.attribute("fingerprint") ?? session.attribute("fingerprint")
            throw NegotiationError(side, line, .fingerprintWeak(all.map(\.hashFunction)))
        }
        return strong
    }

    func setup(of media: MediaDescription) throws(NegotiationError) -> SetupAttribute? {
        try read { () throws(SDPError) -> SetupAttribute? in
            if let own = try media.setup() { return own }
            return try inherited.setup.get()
        }
    }

    /// Returns the direction of a section, as its writer sees it; nil if it has none.
    func direction(of media: MediaDescription) -> DirectionAttribute? {
        media.direction ?? inherited.direction
    }

    func setupLine(of media: MediaDescription) -> SDPLine {
        media.attribute("setup") ?? session.attribute("setup") ?? media.line
    }

    /// Returns the candidates of the sections that share a transport, without duplicates.
    func candidates(of sections: [MediaDescription]) throws(NegotiationError) -> [CandidateAttribute] {
        var candidates: [CandidateAttribute] = []
        var seen: Set<CandidateAttribute> = []
        for section in sections {
            let found = try read { () throws(SDPError) in try section.candidates() }
            for candidate in found where candidate.component == 1 && seen.insert(candidate).inserted {
                candidates.append(candidate)
            }
        }
        return candidates
    }

    /// Returns the `a=rtpmap` of each payload type.
    func codecs(of media: MediaDescription) throws(NegotiationError) -> [UInt8: RTPMapAttribute] {
        let maps = try read { () throws(SDPError) in try media.rtpMaps() }
        return Dictionary(maps.map { ($0.payloadType, $0) }) { first, _ in first }
    }

    /// Returns the parameters of each payload type, of all its `a=fmtp` lines.
    func parameters(of media: MediaDescription) throws(NegotiationError) -> [UInt8: FormatParametersAttribute] {
        let parameters = try read { () throws(SDPError) in try media.formatParameters() }
        return Dictionary(
            parameters.compactMap { line in UInt8(line.format).map { ($0, line) } }, uniquingKeysWith: +)
    }

    /// Returns the payload types of the `m=` line in order.
    func payloadTypes(of media: MediaDescription) -> [UInt8] {
        var seen: Set<UInt8> = []
        return media.formats.compactMap { UInt8($0) }.filter { seen.insert($0).inserted }
    }

    /// Returns the payload type that carries retransmissions of another (RFC 4588 §8.6).
    func rtxPayloadType(for payloadType: UInt8, in media: MediaDescription) throws(NegotiationError) -> UInt8? {
        let codecs = try codecs(of: media)
        let parameters = try read { () throws(SDPError) in try media.formatParameters() }
        let associated = Set(parameters.filter { $0["apt"] == String(payloadType) }.map(\.format))
        return payloadTypes(of: media).first { candidate in
            candidate != payloadType && codecs[candidate]?.encodingName.lowercased() == "rtx"
                && associated.contains(String(candidate))
        }
    }

    /// Returns the section's parameters of Opus; nil for another codec.
    func opus(_ map: RTPMapAttribute, in media: MediaDescription) throws(NegotiationError) -> OpusParameters? {
        guard map.isOpus else { return nil }
        return try read { () throws(SDPError) in try OpusParameters(of: map.payloadType, in: media) }
    }

    func feedback(for payloadType: UInt8, in media: MediaDescription) throws(NegotiationError) -> Set<FeedbackKind> {
        try read { () throws(SDPError) in try media.feedback(for: payloadType) }
    }

    /// Returns the section's header extensions that this project knows.
    func extensions(
        of media: MediaDescription
    ) throws(NegotiationError) -> [(uri: HeaderExtensionURI, map: ExtensionMapAttribute)] {
        try read { () throws(SDPError) in
            try InheritedAttributes.known(media.extensionMaps()) + inherited.extensionMaps.get()
        }
    }

    /// Returns the layers of a simulcast that a section receives, of those that another one offers to send: the first of
    /// alternatives. Empty without a simulcast, or with the lines of an early draft.
    func layers(of media: MediaDescription, sentBy offered: MediaDescription) -> [NegotiatedLayer] {
        guard let sent = try? offered.simulcast()?.sent, let received = try? media.simulcast()?.received else {
            return []
        }
        let streams = (try? media.rtpStreams()) ?? []
        return sent.compactMap(\.first).compactMap { layer in
            received.compactMap(\.first).first { $0.id == layer.id }.map { accepted in
                NegotiatedLayer(accepted, streams.first { $0.id == layer.id && $0.direction == .receive })
            }
        }
    }

    func extensionLine(_ map: ExtensionMapAttribute, in media: MediaDescription) -> SDPLine? {
        (media.attributes("extmap") + session.attributes("extmap")).first {
            $0.attributeValue?.elementsEqual(map.description) == true
        }
    }

    /// Returns the lowest bitrate limit of a section and its session.
    func maximumRate(of media: MediaDescription) -> DataRate? {
        [InheritedAttributes.maximumRate(media.bandwidths), inherited.maximumRate].compactMap { $0 }.min()
    }

    /// Whether a protocol means RTP over DTLS. RFC 9429 §5.1.2 lists the names that deployed peers use. The
    /// fingerprint, which is always required, shows that media are encrypted.
    static func isRTP(_ name: String) -> Bool {
        [
            "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "TCP/TLS/RTP/SAVPF",
            "RTP/SAVPF", "RTP/SAVP", "RTP/AVPF", "RTP/AVP",
        ].contains(name)
    }
}

extension RTPMapAttribute {
    var isOpus: Bool { encodingName.lowercased() == "opus" }
}

extension UInt8 {
    /// Whether a payload type is one of those that RTCP packet types use on the same port (RFC 5761 §4).
    var isOfRTCP: Bool { (64...95).contains(self) }
}

extension Array {
    /// Returns the codecs whose payload types are not those of RTCP; if all are, all, so that the error names one.
    func withoutRTCPNumbers(_ codec: (Element) -> NegotiatedCodec) -> [Element] {
        let usable = filter { !codec($0).map.payloadType.isOfRTCP }
        return usable.isEmpty ? self : usable
    }
}

/// The numbers that must have one meaning within a bundle (RFC 9143 §10.1.2, §10.2).
struct BundledNumbers {
    private var formats: [UInt8: RTPMapAttribute] = [:]
    private var extensions: [UInt8: HeaderExtensionURI] = [:]

    mutating func claim(_ map: RTPMapAttribute, _ side: NegotiationError.Side, _ media: MediaDescription)
        throws(NegotiationError)
    {
        guard !map.payloadType.isOfRTCP else {
            throw NegotiationError(side, media.line, .payloadTypeOfRTCP(map.payloadType))
        }
        if let other = formats[map.payloadType], !other.isSameEncoding(as: map) {
            throw NegotiationError(side, media.line, .payloadTypeConflict(map.payloadType))
        }
        formats[map.payloadType] = map
    }

    mutating func claim(
        _ uri: HeaderExtensionURI, _ map: ExtensionMapAttribute, _ reader: DescriptionReader, _ media: MediaDescription
    ) throws(NegotiationError) -> UInt8 {
        guard let id = UInt8(exactly: map.id), extensions[id] ?? uri == uri else {
            throw NegotiationError(reader.side, reader.extensionLine(map, in: media), .extensionID(map.id))
        }
        extensions[id] = uri
        return id
    }
}
