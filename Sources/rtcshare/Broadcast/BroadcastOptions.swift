internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCaptureBroadcast

/// The tokens by which the capturing and the sharing process authenticate each other.
struct BroadcastTokenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Token that this process shows to the other one (file, mode 0600). Only for capture and --source process. Default: \
            $RTCSHARE_BROADCAST_MY_TOKEN.
            """, valueName: "file"), completion: .file())
    var myTokenFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Token that the other process must show (file, mode 0600). Only for capture and --source process. Default: \
            $RTCSHARE_BROADCAST_PEER_TOKEN.
            """, valueName: "file"), completion: .file())
    var peerTokenFile: String?

    /// The tokens; those of files go before those of the environment. Throws where there are none.
    func tokens() throws -> BroadcastTokens {
        var given = ProcessInfo.processInfo.environment
        if let myTokenFile { given[BroadcastTokens.myVariable] = try Self.read(myTokenFile) }
        if let peerTokenFile { given[BroadcastTokens.peerVariable] = try Self.read(peerTokenFile) }
        return try BroadcastTokens(environment: given)
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        try SecretFile.readText(path, what: "token").trimmed
    }
}

extension BroadcastTokens {
    fileprivate static let myVariable = "RTCSHARE_BROADCAST_MY_TOKEN"
    fileprivate static let peerVariable = "RTCSHARE_BROADCAST_PEER_TOKEN"

    /// The tokens that `RTCSHARE_BROADCAST_MY_TOKEN` and `RTCSHARE_BROADCAST_PEER_TOKEN` hold.
    init(environment: [String: String]) throws(BroadcastError) {
        guard let mine = environment[Self.myVariable], let peers = environment[Self.peerVariable] else {
            throw .auth(
                "both processes need the two tokens: give --my-token-file and --peer-token-file, or set "
                    + "\(Self.myVariable) and \(Self.peerVariable)")
        }
        try self.init(mine: mine.utf8, peers: peers.utf8)
    }
}
