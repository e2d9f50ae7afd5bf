internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for the servers to which a share is published.
struct PublishingOptions: ParsableArguments {
    @Option(
        name: .customLong("whip"),
        help: ArgumentHelp(
            "Publish the screen and its audio to this WHIP server (RFC 9725). Repeatable.", valueName: "url"))
    var whip: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Token for the WHIP server (file, mode 0600). With several --whip, give one for each in the same order. Write \
            'none' for a server without a token. Default: $RTCSHARE_WHIP_TOKEN. Repeatable.
            """, valueName: "file"), completion: .file())
    var whipTokenFile: [String] = []

    @OptionGroup var room: JanusOptions

    @Option(
        name: .customLong("janus-display"),
        help: ArgumentHelp(
            "Your name in the Janus room. Default: NAME#content, as viewers see the screen.", valueName: "name"))
    var display: String?

    @Option(
        name: .customLong("janus-bitrate"),
        help: ArgumentHelp(
            "Bitrate to ask of the Janus room, in kbit/s. Default: the limit of the room.", valueName: "kbps"),
        transform: OptionValue.videoBitrate)
    var roomBitrate: Int?

    @Option(
        help: ArgumentHelp(
            """
            Number of layers of the video, 1 to 3, for servers with simulcast: a viewer with a slow network gets a lower one. \
            With 'auto', the number depends on --max-bitrate. Default: 1.
            """, valueName: "auto|n"))
    var layers: LayerCount?

    static let tokenVariable = "RTCSHARE_WHIP_TOKEN"
    static let noToken = "none"

    var isGiven: Bool { !whip.isEmpty || room.isGiven }

    func validate() throws {
        if whip.isEmpty, !whipTokenFile.isEmpty {
            throw ValidationError("--whip-token-file needs --whip: give both")
        }
        guard whipTokenFile.isEmpty || whipTokenFile.count == whip.count else {
            throw ValidationError(
                "--whip is given \(whip.count) times, and --whip-token-file \(whipTokenFile.count) times: give one token file "
                    + "for each server in the same order, and '\(Self.noToken)' for a server without a token")
        }
        if layers != nil, !isGiven { throw ValidationError("--layers needs --whip or --janus: give both") }
        for (name, isGiven) in [("--janus-bitrate", roomBitrate != nil), ("--janus-display", display != nil)]
        where isGiven && !room.isGiven {
            throw ValidationError("\(name) needs --janus: give both")
        }
    }

    /// Returns the endpoints for an attendee's share of these media. Secrets in URLs are hidden from the process list
    /// after this.
    func endpoints(
        of attendee: AttendeeID, sharing media: Set<SharedMedia>,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> PublishingEndpoints {
        for url in whip { ProcessArguments.hideSecrets(of: url) }
        return PublishingEndpoints(
            whip: try zip(whip, try tokens(environment: environment)).map { url, token in
                do {
                    return try WHIPEndpoint(url: url, token: token)
                } catch WHIPError.url {
                    throw CommandFailure(
                        .usage, "--whip \(url.withoutSecrets): this is not the URL of a WHIP endpoint",
                        try: "--whip with a URL that begins with http:// or https://")
                }
            },
            janus: try room.endpoints(of: attendee, sharing: media, display: display),
            requestedBitrate: roomBitrate.map { .kilobitsPerSecond($0) }, layers: layers ?? .exactly(1), media: media)
    }

    /// Returns the token for each URL, in the same order.
    func tokens(environment: [String: String]) throws -> [AccessToken?] {
        guard whipTokenFile.isEmpty else {
            return try whipTokenFile.map { path in
                if path == Self.noToken { return nil }
                return try Self.token(try SecretFile.readText(path, what: "token file"), from: path)
            }
        }
        guard let text = environment[Self.tokenVariable], !whip.isEmpty else { return whip.map { _ in nil } }
        guard whip.count == 1 else {
            throw CommandFailure(
                .usage,
                "\(Self.tokenVariable) is the token for one --whip, and there are \(whip.count)",
                try: "--whip-token-file FILE for each, in the same order")
        }
        return [try Self.token(text, from: Self.tokenVariable)]
    }

    private static func token(_ text: String, from source: String) throws(CommandFailure) -> AccessToken {
        let text = text.trimmed
        do {
            return try AccessToken(presenting: text)
        } catch {
            throw CommandFailure(
                .badInput,
                text.isEmpty
                    ? "\(source) has no token in it"
                    : "the text in \(source) is not a token: a token is one word of at most 4096 ASCII characters")
        }
    }
}

/// The number of layers of a published video.
enum LayerCount: ExpressibleByArgument, Hashable {
    case automatic
    case exactly(Int)

    init?(argument: String) {
        switch argument {
        case "auto": self = .automatic
        case "1", "2", "3": self = .exactly(Int(argument) ?? 1)
        default: return nil
        }
    }

    /// Returns the number for a maximum bitrate: each layer has at least the bitrate of a usable video.
    func count(for bitrate: DataRate) -> Int {
        switch self {
        case .exactly(let count): count
        case .automatic: bitrate >= .kilobitsPerSecond(1500) ? 3 : bitrate >= .kilobitsPerSecond(600) ? 2 : 1
        }
    }
}
