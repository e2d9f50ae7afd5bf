internal import RTCShareLocks
internal import RTCShareMedia

/// Starts and stops sources, each on a thread of its own in the order of the calls. The thread exists while there is
/// work.
///
/// Stopping a source waits for its thread, which can wait for a device or a display server. No task and no other source
/// must wait for that.
final class SourceRunner: Sendable {
    private typealias Work = @Sendable () -> Void

    /// The work that waits, for each source that has a thread.
    private let waiting = Locked<[ObjectIdentifier: [Work]]>([:])

    /// Calls `body`, which starts a source, and waits until it has started.
    func start(_ source: any AnyObject & Sendable, _ body: @escaping @Sendable () throws -> Void) async throws {
        let result = await withCheckedContinuation { continuation in
            add(for: ObjectIdentifier(source)) { continuation.resume(returning: Result(catching: body)) }
        }
        try result.get()
    }

    /// Calls `body`, which stops a source. The caller does not wait for its end.
    func stop(_ source: any AnyObject & Sendable, _ body: @escaping @Sendable () -> Void) {
        add(for: ObjectIdentifier(source), body)
    }

    /// Waits until all earlier calls are executed.
    func finish() async {
        for source in waiting.withLock({ Array($0.keys) }) {
            await withCheckedContinuation { continuation in add(for: source) { continuation.resume() } }
        }
    }

    private func add(for source: ObjectIdentifier, _ work: @escaping Work) {
        let needsThread = waiting.withLock { waiting in
            defer { waiting[source, default: []].append(work) }
            return waiting[source] == nil
        }
        guard needsThread else { return }
        WorkerThread.start(named: "source") { while let work = self.next(for: source) { work() } }
    }

    private func next(for source: ObjectIdentifier) -> Work? {
        waiting.withLock { waiting in
            guard waiting[source]?.isEmpty == false else {
                waiting[source] = nil
                return nil
            }
            return waiting[source]?.removeFirst()
        }
    }
}

extension SourceRunner {
    func start(_ source: any CaptureSource) async throws { try await start(source, source.start) }
    func start(_ audio: any AudioCaptureSource) async throws { try await start(audio, audio.start) }
    func stop(_ source: any CaptureSource) { stop(source, source.stop) }
    func stop(_ audio: any AudioCaptureSource) { stop(audio, audio.stop) }
}
