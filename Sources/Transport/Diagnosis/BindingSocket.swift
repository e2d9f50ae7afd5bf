internal import NIOCore
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A UDP socket that asks STUN servers for its public address, with timeouts that are short enough for a waiting user.
actor BindingSocket {
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The outcome of a request.
    enum Outcome: Sendable {
        case answered(Answer)
        case refused(ErrorCode)
        case malformed
        case silent
        case unroutable
    }

    struct Answer: Sendable {
        let mapped: TransportAddress
        /// The other address from which the server answers (RFC 5780).
        let other: TransportAddress?
        let roundTripTime: Duration
    }

    private struct Request {
        let continuation: CheckedContinuation<Outcome, Never>
        var sent: Instant
    }

    private nonisolated let eventLoop: any EventLoop
    private var socket: DatagramSocket?
    private var routes: RouteProbe
    private var requests: [TransactionID: Request] = [:]

    /// The times at which a request is sent, after the first one, and its timeout.
    private static let schedule: [TimeAmount] = [.zero, .milliseconds(300), .milliseconds(900)]
    private static let patience = TimeAmount.milliseconds(1900)

    init(eventLoop: any EventLoop, routes: sending RouteProbe = RouteProbe()) {
        self.eventLoop = eventLoop
        self.routes = routes
    }

    isolated deinit {
        socket?.channel.close(promise: nil)
    }

    /// Binds to an address, at a port that the system chooses, and returns the complete address.
    func open(at ip: IPAddress) async throws -> TransportAddress {
        let socket = try await DatagramSocket.open(
            at: TransportAddress(ip: ip, port: 0), on: eventLoop,
            receive: { [weak self] bytes, _, _ in self?.assumeIsolated { $0.receive(bytes) } },
            closed: { [weak self] _ in self?.assumeIsolated { $0.socket = nil } })
        self.socket = socket
        return socket.address
    }

    func close() async {
        try? await socket?.channel.close()
        socket = nil
    }

    /// Asks a server, which must answer from the address that `change` requires.
    func ask(_ server: TransportAddress, change: BehaviorDiscovery.Change? = nil) async -> Outcome {
        var random = SystemRandomNumberGenerator()
        let id = TransactionID(using: &random)
        let request = STUNMessage(
            .request, transactionID: id, attributes: change.map { [BehaviorDiscovery.attribute(for: $0)] } ?? [])
        guard let bytes = try? request.encoded(), let socket,
            routes.hasRoute(from: socket.address.ip, to: server, now: MonotonicClock.now)
        else { return .unroutable }
        return await withCheckedContinuation { continuation in
            requests[id] = Request(continuation: continuation, sent: MonotonicClock.now)
            let loop = eventLoop.assumeIsolated()
            for delay in Self.schedule {
                loop.scheduleTask(in: delay) { [weak self] in
                    self?.assumeIsolated { $0.send(bytes, of: id, to: server) }
                }
            }
            // It holds the socket: a caller waits for the answer.
            loop.scheduleTask(in: Self.patience) { self.assumeIsolated { $0.finish(id, .silent) } }
        }
    }

    private func send(_ bytes: [UInt8], of id: TransactionID, to server: TransportAddress) {
        guard requests[id] != nil else { return }
        requests[id]?.sent = MonotonicClock.now
        guard let socket, socket.send(ByteBuffer(bytes: bytes), to: server) else { return finish(id, .unroutable) }
    }

    private func receive(_ bytes: ByteBuffer) {
        guard let message = try? STUNMessage(parsing: bytes.readableBytesSpan),
            let request = requests[message.transactionID]
        else { return }
        switch message.messageClass {
        case .successResponse:
            guard let mapped = message.mappedAddress else { return finish(message.transactionID, .malformed) }
            finish(
                message.transactionID,
                .answered(
                    Answer(
                        mapped: mapped, other: BehaviorDiscovery.otherAddress(in: message),
                        roundTripTime: MonotonicClock.now - request.sent)))
        case .errorResponse:
            finish(message.transactionID, message.errorCode.map { .refused($0) } ?? .malformed)
        case .request, .indication: break
        }
    }

    private func finish(_ id: TransactionID, _ outcome: Outcome) {
        requests.removeValue(forKey: id)?.continuation.resume(returning: outcome)
    }
}
