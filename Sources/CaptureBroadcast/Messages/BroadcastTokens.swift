import RTCShareCryptography

/// The tokens by which the two processes authenticate each other. The capturing process sends its token. The sharing
/// process compares it with the expected one, and answers with its own.
public struct BroadcastTokens: Sendable {
    /// The token that this process sends.
    let mine: [UInt8]
    /// The token that this process expects.
    let peers: [UInt8]

    /// The lengths that a token may have, in bytes.
    public static let lengths = 8...512

    /// Creates the tokens of one process. Each has one of ``lengths`` bytes and is secret. The other process has them
    /// the other way around.
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

    /// This process's token as it is sent: its length in two bytes, and the token.
    var greeting: [UInt8] { [UInt8(mine.count >> 8), UInt8(mine.count & 0xFF)] + mine }

    /// Returns whether a received token is the peer's, in constant time.
    func accepts(_ token: [UInt8]) -> Bool {
        isEqualInConstantTime(token.span.bytes, peers.span.bytes)
    }
}

extension BroadcastTokens: CustomStringConvertible, CustomReflectable {
    /// A text without the tokens.
    public var description: String { "two tokens" }
    /// A mirror without the tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
