import RTCShareMedia

extension CaptureThread {
    /// The delay before a server that can't be reached, or has ended, is tried again.
    static let retryInterval = Duration.seconds(2)

    /// Returns the values that `follow` passes to its closure, on a thread of its own. When it throws, the stream ends, or,
    /// with `failed`, returns that value, and `follow` is called again after `retryInterval`.
    static func updates<Value: Sendable>(
        retryInterval: Duration = retryInterval, failed: (@Sendable (CaptureError) -> Value)? = nil,
        _ follow: @escaping @Sendable (StopSignal, (Value) -> Void) throws(CaptureError) -> Void
    ) throws(CaptureError) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let thread = CaptureThread()
        try thread.start { signal in
            repeat {
                do throws(CaptureError) {
                    try follow(signal) { continuation.yield($0) }
                } catch {
                    if let failed { continuation.yield(failed(error)) }
                }
            } while failed != nil && signal.wait(until: monotonicNow() + retryInterval)
            continuation.finish()
        }
        // The consumer holds a lock of its task now, which the thread may need to end. So the thread is only canceled.
        continuation.onTermination = { _ in thread.cancel() }
        return stream
    }
}
