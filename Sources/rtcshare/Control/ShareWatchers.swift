internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareSignaling

/// The open streams of events (HTML §9.2): `share` with the state of the share at once and when it has changed, and `ended`
/// with the reason at its end. A stream that begins while nothing is shared begins with `idle`. Without streams, nothing is
/// measured.
@SharingActor final class ShareWatchers {
    private struct Ending: Encodable {
        let reason: String?
    }

    private struct Idleness: Encodable {}

    private let state: @Sendable () async -> ControlledShare?
    private let sleep: @Sendable (Duration) async throws -> Void
    private var streams: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    private var streamsSoFar = 0
    /// The state that was sent last.
    private var known: ControlledShare?
    private var secondsOfSilence = 0
    /// The task that sends changes. Nil without streams.
    private var ticking: Task<Void, Never>?
    private var hasEnded = false

    /// The maximum number of streams: the other connections are for requests.
    private static let most = 8
    private static let interval = Duration.seconds(1)
    /// The number of seconds after which a comment shows that the share still runs.
    private static let mostSecondsOfSilence = 10

    /// Creates the watchers of the share whose state `state` returns; nil if nothing is shared.
    nonisolated init(
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        _ state: @escaping @Sendable () async -> ControlledShare?
    ) {
        (self.state, self.sleep) = (state, sleep)
    }

    /// Whether a stream is open.
    var isWatched: Bool { !streams.isEmpty }

    /// Returns a new stream, which begins with the state.
    func add() async throws(ProblemDetails) -> AsyncStream<[UInt8]> {
        // A stream that is being opened counts.
        guard streams.count < Self.most else {
            throw ProblemDetails(
                .serviceUnavailable, "\(Self.most) programs watch this share already",
                remedy: "end one of them, such as rtcshare status --watch", exitStatus: 69)
        }
        // Of the states that a slow client has not read yet, only the newest matters.
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(1))
        streamsSoFar += 1
        let number = streamsSoFar
        streams[number] = continuation
        continuation.onTermination = { _ in SharingActor.post { [weak self] in self?.remove(number) } }
        let share = await state()
        if hasEnded {
            continuation.finish()
        } else if let share {
            continuation.yield(Self.event("share", share))
            // Earlier streams get the state again at the next tick, unless it is theirs.
            if streams.count == 1 { known = share }
        } else {
            continuation.yield(Self.event("idle", Idleness()))
        }
        startTicking()
        return stream
    }

    /// Sends the reason of the end of a share. Another one can follow.
    func shareDidEnd(reason: String?) {
        known = nil
        send(Self.event("ended", Ending(reason: reason)))
    }

    /// Ends all streams.
    func end() {
        hasEnded = true
        ticking?.cancel()
        for continuation in streams.values { continuation.finish() }
    }

    private func remove(_ number: Int) {
        streams[number] = nil
        guard streams.isEmpty else { return }
        ticking?.cancel()
        ticking = nil
    }

    private func startTicking() {
        guard ticking == nil, !hasEnded, !streams.isEmpty else { return }
        secondsOfSilence = 0
        ticking = Task { [weak self, sleep] in
            while (try? await sleep(Self.interval)) != nil { await self?.tick() }
        }
    }

    /// Sends the state after a request that has changed it.
    func stateDidChange() async {
        guard !streams.isEmpty, let share = await state(), !hasEnded else { return }
        sendIfChanged(share)
    }

    private func tick() async {
        let share = await state()
        guard !Task.isCancelled else { return }
        secondsOfSilence += 1
        if share.map({ sendIfChanged($0) }) == true { return }
        if secondsOfSilence >= Self.mostSecondsOfSilence {
            send(Array(":\n\n".utf8))
        }
    }

    /// Sends a state unless it is known. Returns whether it was sent.
    @discardableResult private func sendIfChanged(_ share: ControlledShare) -> Bool {
        guard known.map({ $0.differs(from: share, inMeasurements: true) }) ?? true else { return false }
        known = share
        send(Self.event("share", share))
        return true
    }

    private func send(_ bytes: [UInt8]) {
        secondsOfSilence = 0
        for continuation in streams.values { continuation.yield(bytes) }
    }

    private static func event(_ type: String, _ data: some Encodable) -> [UInt8] {
        let text = (try? ControlJSON.encode(data)) ?? Array("{}".utf8)
        return Array("event: \(type)\ndata: ".utf8) + text + Array("\n\n".utf8)
    }
}
