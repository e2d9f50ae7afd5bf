internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCaptureBroadcast

/// What the two sides of a broadcast know each other by.
struct BroadcastTokenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Of a broadcast, the file with this side's token, mode 0600. By default $RTCSHARE_BROADCAST_MY_TOKEN.",
            valueName: "file"), completion: .file())
    var myTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Of a broadcast, the file with the other side's token. By default $RTCSHARE_BROADCAST_PEER_TOKEN.",
            valueName: "file"), completion: .file())
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
                "a broadcast takes this side's token and the other's: give them by --my-token-file and "
                    + "--peer-token-file, or in \(Self.myVariable) and \(Self.peerVariable)")
        }
        try self.init(mine: mine.utf8, peers: peers.utf8)
    }
}
