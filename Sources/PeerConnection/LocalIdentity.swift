package import RTCShareSecureTransport

/// The identity of a connection before negotiation: the certificate, the ICE credentials and the sources' numbers.
///
/// An offer announces it, and its owner can process the answer. It can be stored between the two, in a file that only
/// its owner can read.
package struct LocalIdentity: Codable, Sendable {
    /// The session id in the description's `o=` line (RFC 8829 §5.2.1: 63 random bits).
    package let sessionID: UInt64
    /// The certificate for DTLS, which the description's fingerprint identifies.
    package let certificate: Certificate
    /// The ICE user name fragment (RFC 8445 §5.3).
    package let iceUsernameFragment: String
    /// The ICE password, for incoming checks.
    package let icePassword: String
    /// The CNAME, which connects this peer's sources in RTCP (RFC 7022).
    package let canonicalName: String
    /// The sent media, in the order of the description's media sections.
    package private(set) var media: [LocalMedia]

    /// Creates an identity. `unixTime`, in seconds, is the start of the certificate's validity, from which a day is
    /// subtracted. Media have the layers of the configuration.
    package init(
        media: [MediaKind], configuration: PeerConnection.Configuration = PeerConnection.Configuration(),
        unixTime: Int64, random: inout some RandomNumberGenerator
    ) throws(CertificateError) {
        let day: Int64 = 86_400
        let certificate = try Certificate(notBefore: unixTime - day, notAfter: unixTime + 30 * day)
        self.init(certificate: certificate, media: media, configuration: configuration, random: &random)
    }

    /// Creates an identity with a given certificate.
    package init(
        certificate: Certificate, media: [MediaKind],
        configuration: PeerConnection.Configuration = PeerConnection.Configuration(),
        random: inout some RandomNumberGenerator
    ) {
        self.certificate = certificate
        sessionID = random.next() >> 1
        iceUsernameFragment = Self.token(length: 8, random: &random)
        icePassword = Self.token(length: 24, random: &random)
        canonicalName = Self.token(length: 16, random: &random)
        self.media = []
        for kind in media { add(kind, layers: configuration.layers(of: kind), mids: [], random: &random) }
    }

    /// Adds a media section with new numbers, and with each of these layers or a single stream. Its `a=mid` is none of
    /// `mids` either.
    mutating func add(
        _ kind: MediaKind, trackID: String? = nil, layers: [String] = [], mids: some Sequence<String>,
        random: inout some RandomNumberGenerator
    ) {
        var mids = Set(mids).union(media.map(\.mid))
        var sources = Set(media.flatMap { [$0.source, $0.retransmissionSource] })
        let mid = Self.unique(among: &mids) { Self.token(length: 3, random: &random) }
        let trackID = trackID ?? Self.token(length: 16, random: &random)
        for layer in layers.isEmpty ? [nil] : layers.map(Optional.some) {
            media.append(
                LocalMedia(
                    kind: kind, mid: mid, trackID: trackID,
                    source: Self.unique(among: &sources) { UInt32.random(in: 1...UInt32.max, using: &random) },
                    retransmissionSource: Self.unique(among: &sources) {
                        UInt32.random(in: 1...UInt32.max, using: &random)
                    }, layer: layer))
        }
    }

    /// Returns the media of the same section: the layers of a simulcast, the best first, or the media alone.
    func layers(ofMedia index: Int) -> [Int] {
        guard media[index].layer != nil else { return [index] }
        return media.indices.filter { media[$0].layer != nil && media[$0].mid == media[index].mid }
    }

    /// Replaces the `a=mid` of a media section that was not announced yet, because the peer uses it.
    mutating func redrawMid(ofMedia index: Int, avoiding mids: Set<String>, random: inout some RandomNumberGenerator) {
        var mids = mids.union(media.map(\.mid))
        setMid(Self.unique(among: &mids) { Self.token(length: 3, random: &random) }, ofMedia: index)
    }

    /// Assigns a media, with all its layers, to a section of the peer with this `a=mid`.
    mutating func setMid(_ mid: String, ofMedia index: Int) {
        for index in layers(ofMedia: index) { media[index].mid = mid }
    }

    /// Returns an `a=mid` for a section without media of this side.
    func drawMid(avoiding mids: some Sequence<String>, random: inout some RandomNumberGenerator) -> String {
        var mids = Set(mids).union(media.map(\.mid))
        return Self.unique(among: &mids) { Self.token(length: 3, random: &random) }
    }

    /// The kind of media in a section.
    package enum MediaKind: Codable, Sendable, Hashable {
        /// Video of the media stream with this id. Content is a screen share.
        case video(streamID: String, isContent: Bool)
        /// Audio of the media stream with this id. Content is the audio of a screen share.
        case audio(streamID: String, isContent: Bool)

        /// The media stream's id.
        package var streamID: String {
            switch self {
            case .video(let streamID, _), .audio(let streamID, _): streamID
            }
        }

        /// Whether the media belongs to a screen share.
        package var isContent: Bool {
            switch self {
            case .video(_, let isContent), .audio(_, let isContent): isContent
            }
        }

        /// Whether the media is video; otherwise it is audio.
        package var isVideo: Bool {
            switch self {
            case .video: true
            case .audio: false
            }
        }
    }

    private static func unique<Value: Hashable>(among taken: inout Set<Value>, draw: () -> Value) -> Value {
        while true {
            let value = draw()
            if taken.insert(value).inserted { return value }
        }
    }

    private static let tokenCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Returns random characters that every SDP grammar allows in an identifier.
    private static func token(length: Int, random: inout some RandomNumberGenerator) -> String {
        String((0..<length).map { _ in tokenCharacters[Int.random(in: 0..<tokenCharacters.count, using: &random)] })
    }
}

/// The sender of one RTP stream in the offer: of one media section, or of a layer of its simulcast.
package struct LocalMedia: Codable, Sendable, Hashable {
    /// The kind of media.
    package let kind: LocalIdentity.MediaKind
    /// The section's `a=mid`. It is random and short. An answer repeats it, which identifies the connection of the
    /// answer.
    package internal(set) var mid: String
    /// The track's id in `a=msid`.
    package let trackID: String
    /// The synchronization source of the media.
    package let source: UInt32
    /// The synchronization source of retransmissions (RFC 4588). Audio does not use it.
    package let retransmissionSource: UInt32
    /// The `a=rid` of a layer of a simulcast (RFC 8853), whose media follow each other; nil for a single stream.
    package var layer: String?
}
