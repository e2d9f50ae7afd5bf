internal import RTCShareLocks
internal import RTCShareNetworkRuntime
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// Reports servers whose names DNS does not tell the addresses of.
enum ServerNameReport {
    /// How long an answer can take before its absence is reported.
    private static let patience = Duration.seconds(5)

    /// Reports the names that DNS does not answer for in time, and with `reportsFailures` those that have no address.
    static func run(on servers: [ICEServer], reportsFailures: Bool) async {
        await withDiscardingTaskGroup { group in
            for (host, server) in Dictionary(servers.map { ($0.host, $0) }, uniquingKeysWith: { first, _ in first }) {
                group.addTask {
                    let outcome = await lookUp(patience: patience) { _ = try await server.resolve() }
                    guard !Task.isCancelled else { return }
                    switch outcome {
                    case nil: Terminal.shared.say(lateAnswer(host, after: patience))
                    case .failure(let error) where reportsFailures:
                        Terminal.shared.say("No help from \(server): \(error)")
                    case .failure, .success: return
                    }
                }
            }
        }
    }

    /// What is said of a name.
    static func lateAnswer(_ host: String, after time: Duration) -> String {
        "The name \(host) was not found: DNS did not answer within \(time.seconds.words) s."
    }

    /// The outcome of a look-up; nil where it takes longer than `patience`.
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
            // A look-up that was cancelled has no outcome.
            if !Task.isCancelled { outcome.withLock { $0 = result } }
        }
        return outcome.withLock { $0 }
    }
}
