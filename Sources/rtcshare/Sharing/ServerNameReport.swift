internal import FoundationEssentials
internal import RTCShareICE
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The report of STUN and TURN servers whose names DNS does not resolve in time.
enum ServerNameReport {
    /// The time after which a missing answer is reported.
    private static let patience = Duration.seconds(5)

    /// Reports the names that DNS does not resolve in time.
    static func run(on servers: [ICEServer]) async {
        await withDiscardingTaskGroup { group in
            for (host, server) in Dictionary(servers.map { ($0.host, $0) }, uniquingKeysWith: { first, _ in first }) {
                group.addTask {
                    let outcome = await lookUp(patience: patience) { _ = try await server.resolve() }
                    guard outcome == nil, !Task.isCancelled else { return }
                    Terminal.shared.say(lateAnswer(host, after: patience))
                }
            }
        }
    }

    /// Tries the servers of a share before its first viewer joins, and reports those that do not work.
    static func run(askedBy configuration: Connection.Configuration) async {
        guard !configuration.iceServers.isEmpty else { return }
        var asking = configuration
        (asking.sharedPort, asking.port) = (nil, 0)
        var random = SystemRandomNumberGenerator()
        guard
            let identity = try? LocalIdentity(
                media: [], unixTime: Int64(Date().timeIntervalSince1970), random: &random),
            let connection = try? await Connection(as: .offerer, identity: identity, configuration: asking)
        else { return }
        async let naming: Void = run(on: configuration.iceServers)
        // A name without an address is one of the failures.
        await withTaskCancellationHandler {
            try? await connection.gather()
        } onCancel: {
            // Closing the connection releases its relayed addresses.
            Task { await connection.close() }
        }
        let (failures, hasRelay) = (await connection.serverFailures(), await connection.hasRelayedCandidate)
        await connection.close()
        await naming
        guard !Task.isCancelled else { return }
        for failure in failures { Terminal.shared.say("No help from \(failure)") }
        if configuration.iceTransportPolicy == .relay, !hasRelay {
            Terminal.shared.say(
                "Warning: no viewer can connect, because no TURN server works and --ice-transport-policy relay allows no "
                    + "other route.")
        }
    }

    /// Returns the message for a name.
    static func lateAnswer(_ host: String, after time: Duration) -> String {
        "The name \(host) was not found: DNS did not answer within \(time.seconds.words) s."
    }

    /// Returns the outcome of a look-up. Nil if it takes longer than `patience`.
    static func lookUp(
        patience: Duration, _ resolve: @escaping @Sendable () async throws -> Void
    ) async -> Result<Void, any Error>? {
        let outcome = Locked<Result<Void, any Error>?>(nil)
        await withTimeLimit(patience) {
            let result: Result<Void, any Error>
            do {
                result = .success(try await resolve())
            } catch {
                result = .failure(error)
            }
            // A look-up that was canceled has no outcome.
            if !Task.isCancelled { outcome.withLock { $0 = result } }
        }
        return outcome.withLock { $0 }
    }
}
