internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The gathering of candidates before a description is made.
enum Gathering {
    /// Gathers candidates at a connection's servers, and prints the problems.
    static func run(on connection: Connection, servers: [ICEServer], policy: ICEOptions.Policy?) async throws {
        guard !servers.isEmpty else { return }
        let naming = Task { await ServerNameReport.run(on: servers) }
        defer { naming.cancel() }
        try await connection.gather()
        try Task.checkCancellation()
        let failures = await connection.serverFailures()
        for failure in failures { Terminal.shared.say("No help from \(failure)") }
        let hasRelay = await connection.hasRelayedCandidate
        if policy == .relay, !hasRelay {
            throw CommandFailure(
                .unavailable, "no TURN server works, and --ice-transport-policy relay allows no other route",
                try: "rtcshare doctor --ice-server turn:HOST")
        }
        if failures.isEmpty, !hasRelay, await !connection.hasReflexiveCandidate {
            Terminal.shared.say(
                "The STUN servers see this machine's own address: there seems to be no NAT.")
        }
    }
}
