import RTCShareCryptography

/// What the two sides of a broadcast know each other by. The extension sends its token, the app compares it with the one
/// that it expects and answers with its own.
public struct BroadcastTokens: Sendable {
    /// What this side sends.
    let mine: [UInt8]
    /// What this side expects.
    let peers: [UInt8]

    /// The lengths that a token may have, in bytes.
    public static let lengths = 8...512

    /// The tokens of one side, of which each has one of ``lengths`` bytes and no other has them; the other side has them
    /// the other way round.
    public init(mine: some Collection<UInt8>, peers: some Collection<UInt8>) throws(BroadcastError) {
        for (token, owner) in [(mine.count, "this process' token"), (peers.count, "the other process' token")]
        where !Self.lengths.contains(token) {
            throw .auth(
                "\(owner) has \(token) bytes, but must have \(Self.lengths.lowerBound) to \(Self.lengths.upperBound)",
                remedy: "openssl rand -hex 16 > FILE")
        }
        self.mine = Array(mine)
        self.peers = Array(peers)
    }

    /// This side's token as it is sent: its length in two bytes, and the token.
    var greeting: [UInt8] { [UInt8(mine.count >> 8), UInt8(mine.count & 0xFF)] + mine }

    /// Whether what came is the peer's token; takes the same time whatever it is.
    func accepts(_ token: [UInt8]) -> Bool {
        isEqualInConstantTime(token.span.bytes, peers.span.bytes)
    }
}

extension BroadcastTokens: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the tokens.
    public var description: String { "two tokens" }
    /// Shows nothing of the tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
