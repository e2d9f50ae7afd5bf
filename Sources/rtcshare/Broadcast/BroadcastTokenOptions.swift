internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCaptureBroadcast

/// The tokens by which the capturing and the sharing process authenticate each other.
struct BroadcastTokenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            File (mode 0600) with the token of this process, of 8 to 512 bytes. To make one: openssl rand -hex 16 > FILE. Only \
            for capture and --source process. Default: $RTCSHARE_MY_TOKEN.
            """, valueName: "file"), completion: .file())
    var myTokenFile: String?

    @Option(
        help: ArgumentHelp(
            """
            File (mode 0600) with the token of the other process. Only for capture and --source process. Default: \
            $RTCSHARE_PEER_TOKEN.
            """, valueName: "file"), completion: .file())
    var peerTokenFile: String?

    /// Returns the tokens; those of files take precedence over those of the environment. Throws if there are none.
    func tokens(remedy: String = BroadcastTokens.remedy) throws -> BroadcastTokens {
        var given = ProcessInfo.processInfo.environment
        if let myTokenFile { given[BroadcastTokens.myVariable] = try Self.read(myTokenFile) }
        if let peerTokenFile { given[BroadcastTokens.peerVariable] = try Self.read(peerTokenFile) }
        return try BroadcastTokens(environment: given, remedy: remedy)
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        let token = try SecretFile.readText(path, what: "token").trimmed
        let (length, allowed) = (token.utf8.count, BroadcastTokens.lengths)
        guard allowed.contains(length) else {
            throw CommandFailure(
                .notPermitted,
                "can't use the token in \(path): it has \(length) bytes, but must have \(allowed.lowerBound) to "
                    + "\(allowed.upperBound)", try: "openssl rand -hex 16 > \(path.asShellWord)")
        }
        return token
    }
}

extension BroadcastTokens {
    fileprivate static let myVariable = "RTCSHARE_MY_TOKEN"
    fileprivate static let peerVariable = "RTCSHARE_PEER_TOKEN"

    /// The remedy for missing tokens, for the command that starts a process.
    static let remedy = "--my-token-file FILE --peer-token-file FILE"

    /// Creates the tokens from `RTCSHARE_MY_TOKEN` and `RTCSHARE_PEER_TOKEN`, or from the variables with their former
    /// names.
    init(environment: [String: String], remedy: String = Self.remedy) throws {
        func value(_ variable: String) -> String? {
            environment[variable] ?? environment[variable.replacing("RTCSHARE_", with: "RTCSHARE_BROADCAST_")]
        }
        guard let mine = value(Self.myVariable), let peers = value(Self.peerVariable) else {
            throw CommandFailure(
                .notPermitted, "capture in another process needs two tokens, and at least one is missing", try: remedy)
        }
        try self.init(mine: mine.utf8, peers: peers.utf8)
    }
}
