/// Runs `body` until it has returned or `limit` has passed. Then `body` is canceled, and not waited for any longer.
package func withTimeLimit(_ limit: Duration, _ body: @escaping @Sendable () async -> Void) async {
    let (done, continuation) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
        await body()
        continuation.finish()
    }
    let timer = Task {
        if (try? await Task.sleep(for: limit)) != nil { continuation.finish() }
    }
    for await _ in done {}
    task.cancel()
    timer.cancel()
}
