internal import FoundationEssentials
internal import Glibc
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The relayed addresses that `offer` leaves allocated at their servers and `send` resumes.
struct StoredRelays {
    private let kept: [RelayState]
    private let servers: [ICEServer]
    private let policy: ICETransportPolicy
    private let resolvesHostNames: Bool
    private let acceptsTCP: Bool
    /// The time at which the first allocation expires.
    private let expiry: Date?

    /// The maximum lifetime that most servers grant. Nothing refreshes the allocation until `send` runs.
    private static let longestLifetime = Duration.seconds(3600)
    private static let cure = "make a new offer, or use rtcshare send without --answer"

    /// Configures a connection for relayed addresses that can be handed over: over UDP, with a long lifetime. The
    /// session contains credentials of limited time, but not the secret that they are from. Returns a message about
    /// servers that can't be used.
    static func prepare(_ configuration: inout Connection.Configuration) throws(CommandFailure) -> String? {
        configuration.peer.relayLifetime = longestLifetime
        configuration.iceServers = configuration.iceServers.map { $0.granted() }
        let streams = configuration.iceServers.filter { $0.isRelay && $0.transport.isStream }
        guard !streams.isEmpty else { return nil }
        configuration.iceServers.removeAll(where: streams.contains)
        let names = streams.map(\.description).joined(separator: ", ")
        let isOnlyHope =
            configuration.iceTransportPolicy == .relay && !configuration.iceServers.contains { $0.isRelay }
        let reason = "a relayed address over TCP or TLS ends with the program that asked for it"
        guard !isOnlyHope else {
            throw CommandFailure(
                .usage,
                "--ice-server \(names): \(reason), and --ice-transport-policy relay allows no other route",
                try: "rtcshare send without --answer, or a TURN server over UDP")
        }
        return "Not asking \(names): \(reason). To share through it, use rtcshare send without --answer."
    }

    /// Restores the relayed addresses of a session.
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
        acceptsTCP = session.acceptsTCP
        self.servers = servers
        expiry = session.relays.map(\.expiresAt).min()
    }

    /// Configures a connection with the policy of `offer`. It does not allocate relayed addresses that are not in the
    /// offer.
    func apply(to configuration: inout Connection.Configuration) {
        configuration.iceTransportPolicy = policy
        configuration.resolvesHostNames = resolvesHostNames
        configuration.acceptsTCP = acceptsTCP
        configuration.peer.relayLifetime = Self.longestLifetime
        configuration.iceServers = servers.filter { !$0.isRelay }
    }

    /// Configures another viewer's connection with the policy of `offer`, which allocates relayed addresses.
    func applyAnew(to configuration: inout Connection.Configuration) {
        configuration.iceTransportPolicy = policy
        configuration.resolvesHostNames = resolvesHostNames
        configuration.acceptsTCP = acceptsTCP
        configuration.iceServers = servers
    }

    /// Resumes the relayed addresses, and queries the STUN servers at the same time. If this fails, another attempt can
    /// still use the addresses.
    func resume(on connection: Connection) async throws(CommandFailure) {
        connection.setKeepsRelays(true)
        await connection.resume(kept)
        try await report(on: connection)
        // The offer has the resulting candidates already, so the call does not wait for them.
        Task { try? await connection.gather() }
    }

    /// Reports the relayed addresses that are lost. Throws if the policy allows no other route.
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
