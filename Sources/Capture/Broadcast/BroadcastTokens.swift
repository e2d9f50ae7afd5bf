import Cryptography
public import Foundation

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
        for (token, owner) in [(mine.count, "this side's token"), (peers.count, "the peer's token")]
        where !Self.lengths.contains(token) {
            throw .auth(
                "\(owner) has \(token) bytes; a token has \(Self.lengths.lowerBound) to \(Self.lengths.upperBound), "
                    + "for instance of 'openssl rand -hex 16'")
        }
        self.mine = Array(mine)
        self.peers = Array(peers)
    }

    /// The tokens that `RTCSHARE_BROADCAST_MY_TOKEN` and `RTCSHARE_BROADCAST_PEER_TOKEN` hold.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(BroadcastError) {
        guard let mine = environment[Self.mineVariable], let peers = environment[Self.peersVariable] else {
            throw .auth(
                "a broadcast takes this side's token and the other's: give them by --my-token-file and "
                    + "--peer-token-file, or in \(Self.mineVariable) and \(Self.peersVariable)")
        }
        try self.init(mine: mine.utf8, peers: peers.utf8)
    }

    private static let mineVariable = "RTCSHARE_BROADCAST_MY_TOKEN"
    private static let peersVariable = "RTCSHARE_BROADCAST_PEER_TOKEN"

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
