package import RTCShareSecureTransport

/// What a connection is before it has met its peer: the certificate, the ICE credentials and the sources' numbers.
///
/// An offer announces them; whoever holds them can answer for the offer. They can be stored between the two, in a file
/// that only its owner reads.
package struct LocalIdentity: Codable, Sendable {
    /// The session id in the description's `o=` line (RFC 8829 §5.2.1: 63 random bits).
    package let sessionID: UInt64
    /// The certificate that DTLS shows and the description's fingerprint names.
    package let certificate: Certificate
    /// The username fragment of ICE (RFC 8445 §5.3).
    package let iceUsernameFragment: String
    /// The password of ICE, for checks that come in.
    package let icePassword: String
    /// The name that binds this peer's sources together in RTCP (RFC 7022).
    package let canonicalName: String
    /// What is sent, in the order of the description's media sections.
    package private(set) var media: [LocalMedia]

    /// Draws an identity. `unixTime`, in seconds, is when the certificate's validity begins, but for a day of slack.
    package init(
        media: [MediaKind], unixTime: Int64, random: inout some RandomNumberGenerator
    ) throws(CertificateError) {
        let day: Int64 = 86_400
        let certificate = try Certificate(notBefore: unixTime - day, notAfter: unixTime + 30 * day)
        self.init(certificate: certificate, media: media, random: &random)
    }

    /// Draws what an identity has beside its certificate.
    package init(certificate: Certificate, media: [MediaKind], random: inout some RandomNumberGenerator) {
        self.certificate = certificate
        sessionID = random.next() >> 1
        iceUsernameFragment = Self.token(length: 8, random: &random)
        icePassword = Self.token(length: 24, random: &random)
        canonicalName = Self.token(length: 16, random: &random)
        self.media = []
        for kind in media { add(kind, mids: [], random: &random) }
    }

    /// Draws the numbers of one more media section, whose `a=mid` is none of `mids` either.
    mutating func add(
        _ kind: MediaKind, trackID: String? = nil, mids: some Sequence<String>,
        random: inout some RandomNumberGenerator
    ) {
        var mids = Set(mids).union(media.map(\.mid))
        var sources = Set(media.flatMap { [$0.source, $0.retransmissionSource] })
        media.append(
            LocalMedia(
                kind: kind,
                mid: Self.unique(among: &mids) { Self.token(length: 3, random: &random) },
                trackID: trackID ?? Self.token(length: 16, random: &random),
                source: Self.unique(among: &sources) { UInt32.random(in: 1...UInt32.max, using: &random) },
                retransmissionSource: Self.unique(among: &sources) { UInt32.random(in: 1...UInt32.max, using: &random) }
            ))
    }

    /// Draws another `a=mid` for a media section that was not announced yet, because the peer uses this one.
    mutating func redrawMid(ofMedia index: Int, avoiding mids: Set<String>, random: inout some RandomNumberGenerator) {
        var mids = mids.union(media.map(\.mid))
        media[index].mid = Self.unique(among: &mids) { Self.token(length: 3, random: &random) }
    }

    /// Puts a media into a section of the peer's, which has a name.
    mutating func setMid(_ mid: String, ofMedia index: Int) { media[index].mid = mid }

    /// An `a=mid` for a section without media of this side's.
    func drawMid(avoiding mids: some Sequence<String>, random: inout some RandomNumberGenerator) -> String {
        var mids = Set(mids).union(media.map(\.mid))
        return Self.unique(among: &mids) { Self.token(length: 3, random: &random) }
    }

    /// What a media section sends.
    package enum MediaKind: Codable, Sendable, Hashable {
        /// Video of the media stream with this id; content is what somebody shares.
        case video(streamID: String, isContent: Bool)
        /// Sound of the media stream with this id; content is that of what somebody shares.
        case audio(streamID: String, isContent: Bool)

        /// The media stream's id.
        package var streamID: String {
            switch self {
            case .video(let streamID, _), .audio(let streamID, _): streamID
            }
        }

        /// Whether it is of what somebody shares.
        package var isContent: Bool {
            switch self {
            case .video(_, let isContent), .audio(_, let isContent): isContent
            }
        }

        /// Whether it is pictures; else it is sound.
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

    /// Characters that every grammar of SDP lets an identifier have.
    private static func token(length: Int, random: inout some RandomNumberGenerator) -> String {
        String((0..<length).map { _ in tokenCharacters[Int.random(in: 0..<tokenCharacters.count, using: &random)] })
    }
}

/// One media section's sender, as the offer announces it.
package struct LocalMedia: Codable, Sendable, Hashable {
    /// What is sent.
    package let kind: LocalIdentity.MediaKind
    /// The section's `a=mid`. It is random and short: an answer repeats it, which shows whose answer it is.
    package internal(set) var mid: String
    /// The track's id in `a=msid`.
    package let trackID: String
    /// The synchronization source of the media.
    package let source: UInt32
    /// The synchronization source of retransmissions (RFC 4588); sound has none, and leaves it unused.
    package let retransmissionSource: UInt32
}
