internal import FoundationEssentials
internal import Glibc
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The relayed addresses that `offer` leaves with their servers and `send` takes up.
struct StoredRelays {
    private let kept: [RelayState]
    private let servers: [ICEServer]
    private let policy: ICETransportPolicy
    private let resolvesHostNames: Bool
    /// When the first of them ends.
    private let expiry: Date?

    /// What most servers grant at most. Nobody extends it until `send` runs.
    private static let longestLifetime = Duration.seconds(3600)
    private static let cure = "make a new offer, or use rtcshare send without --answer"

    /// Has a connection ask for relayed addresses that can be left: over UDP, and for long. Returns what a person should
    /// know of the servers that are left out.
    static func prepare(_ configuration: inout Connection.Configuration) throws(CommandFailure) -> String? {
        configuration.peer.relayLifetime = longestLifetime
        let streams = configuration.iceServers.filter { $0.credentials != nil && $0.transport.isStream }
        guard !streams.isEmpty else { return nil }
        configuration.iceServers.removeAll(where: streams.contains)
        let names = streams.map(\.description).joined(separator: ", ")
        let isOnlyHope =
            configuration.iceTransportPolicy == .relay && !configuration.iceServers.contains { $0.credentials != nil }
        let reason = "a relayed address over TCP or TLS ends with the program that asked for it"
        guard !isOnlyHope else {
            throw CommandFailure(
                .usage,
                "--ice-server \(names): \(reason), and --ice-transport-policy relay allows no other route",
                try: "rtcshare send without --answer, or a TURN server over UDP")
        }
        return "Not asking \(names): \(reason). To share through it, use rtcshare send without --answer."
    }

    /// What a session holds of them.
    init(_ session: SharingSession, in file: SessionFile, now: Date = Date()) throws(CommandFailure) {
        let servers = session.servers.compactMap { try? ICEServer($0) }
        kept = session.relays.compactMap { $0.relay(servers: servers, now: now) }
        guard let policy = ICETransportPolicy(rawValue: session.transportPolicy),
            servers.count == session.servers.count,
            kept.count == session.relays.count
        else {
            throw CommandFailure(.badInput, "the session \(file.path) is damaged", try: "rtcshare offer > offer.sdp")
        }
        self.policy = policy
        resolvesHostNames = session.resolvesHostNames
        self.servers = servers
        expiry = session.relays.map(\.expiresAt).min()
    }

    /// Has a connection go by what `offer` was told. Addresses that the offer does not name are not asked for.
    func apply(to configuration: inout Connection.Configuration) {
        configuration.iceTransportPolicy = policy
        configuration.resolvesHostNames = resolvesHostNames
        configuration.peer.relayLifetime = Self.longestLifetime
        configuration.iceServers = servers.filter { $0.credentials == nil }
    }

    /// Has the connection of another viewer go by the same, and ask for relayed addresses of its own.
    func applyAnew(to configuration: inout Connection.Configuration) {
        configuration.iceTransportPolicy = policy
        configuration.resolvesHostNames = resolvesHostNames
        configuration.iceServers = servers
    }

    /// Takes them up, and has STUN servers open the way meanwhile. Where this try fails, another one can still have them.
    func resume(on connection: Connection) async throws(CommandFailure) {
        connection.setKeepsRelays(true)
        await connection.resume(kept)
        try await report(on: connection)
        // What they tell is in the offer already: nobody waits for it.
        Task { try? await connection.gather() }
    }

    /// Says which of them are gone. Where nothing else may be used, that is the end.
    private func report(on connection: Connection, now: Date = Date()) async throws(CommandFailure) {
        let isEnd = await !connection.hasRelayedCandidate && policy == .relay
        for report in await connection.serverReports() {
            guard report.outcome != .answered else { continue }
            let text = reason(of: report, now: now)
            guard isEnd else {
                Terminal.shared.say("Connecting without a relay: \(text). If that fails, \(Self.cure).")
                continue
            }
            throw CommandFailure(.unavailable, text, try: Self.cure)
        }
        guard isEnd else { return }
        throw CommandFailure(.unavailable, "the relayed address of the offer can't be used again", try: Self.cure)
    }

    private func reason(of report: ServerReport, now: Date) -> String {
        guard report.outcome == .failed(.relay(.allocationLost)) else {
            return "the relayed address of the offer can't be used again: \(report)"
        }
        if let expiry, expiry <= now {
            return "the relayed address of the offer is gone: it held until \(expiry.timeOfDay)"
        }
        return "the relayed address of the offer is gone: \(report.server) was restarted, or a router on the way has "
            + "given our port another number since"
    }
}
