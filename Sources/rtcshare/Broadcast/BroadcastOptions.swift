internal import ArgumentParser
internal import Capture
internal import Foundation

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

    private static let myVariable = "RTCSHARE_BROADCAST_MY_TOKEN"
    private static let peerVariable = "RTCSHARE_BROADCAST_PEER_TOKEN"

    /// The tokens; those of files go before those of the environment. Throws where there are none.
    func tokens() throws -> BroadcastTokens {
        let environment = ProcessInfo.processInfo.environment
        var given = environment
        given[Self.myVariable] = try myTokenFile.map(Self.read) ?? environment[Self.myVariable]
        given[Self.peerVariable] = try peerTokenFile.map(Self.read) ?? environment[Self.peerVariable]
        return try BroadcastTokens(environment: given)
    }

    private static func read(_ path: String) throws(CommandFailure) -> String {
        try SecretFile.readText(path, what: "token").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
