public import SecureTransport

/// What a connection is before it has met its peer: the certificate, the ICE credentials and the sources' numbers.
///
/// An offer announces them; whoever holds them can answer for the offer. They can be stored between the two, in a file
/// that only its owner reads.
public struct LocalIdentity: Codable, Sendable {
    /// The session id in the description's `o=` line (RFC 8829 §5.2.1: 63 random bits).
    public let sessionID: UInt64
    /// The certificate that DTLS shows and the description's fingerprint names.
    public let certificate: Certificate
    /// The username fragment of ICE (RFC 8445 §5.3).
    public let iceUsernameFragment: String
    /// The password of ICE, for checks that come in.
    public let icePassword: String
    /// The name that binds this peer's sources together in RTCP (RFC 7022).
    public let canonicalName: String
    /// What is sent, in the order of the description's media sections.
    public let media: [LocalMedia]

    /// Draws an identity. `unixTime`, in seconds, is when the certificate's validity begins, but for a day of slack.
    public init(
        media: [MediaKind], unixTime: Int64, random: inout some RandomNumberGenerator
    ) throws(CertificateError) {
        let day: Int64 = 86_400
        sessionID = random.next() >> 1
        certificate = try Certificate(notBefore: unixTime - day, notAfter: unixTime + 30 * day)
        iceUsernameFragment = Self.token(length: 8, random: &random)
        icePassword = Self.token(length: 24, random: &random)
        canonicalName = Self.token(length: 16, random: &random)
        var mids: Set<String> = []
        var sources: Set<UInt32> = []
        self.media = media.map { kind in
            LocalMedia(
                kind: kind,
                mid: Self.unique(among: &mids) { Self.token(length: 3, random: &random) },
                trackID: Self.token(length: 16, random: &random),
                source: Self.unique(among: &sources) { UInt32.random(in: 1...UInt32.max, using: &random) },
                retransmissionSource: Self.unique(among: &sources) { UInt32.random(in: 1...UInt32.max, using: &random) }
            )
        }
    }

    /// What a media section sends.
    public enum MediaKind: Codable, Sendable, Hashable {
        /// Video of the media stream with this id; content is what somebody shares.
        case video(streamID: String, isContent: Bool)
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
public struct LocalMedia: Codable, Sendable, Hashable {
    /// What is sent.
    public let kind: LocalIdentity.MediaKind
    /// The section's `a=mid`. It is random and short: an answer repeats it, which shows whose answer it is.
    public let mid: String
    /// The track's id in `a=msid`.
    public let trackID: String
    /// The synchronization source of the media.
    public let source: UInt32
    /// The synchronization source of retransmissions (RFC 4588).
    public let retransmissionSource: UInt32
}
