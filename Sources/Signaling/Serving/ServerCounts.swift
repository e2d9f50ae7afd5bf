/// The counts that a server reports to monitoring.
struct ServerCounts: Sendable {
    var requests = 0
    var sessions = 0
    var refusedTokens = 0
    var refusedRequests = 0
}
