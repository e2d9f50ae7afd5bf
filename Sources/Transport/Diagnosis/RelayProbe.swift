internal import NIOCore
internal import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// Requests a relayed address from a TURN server, as a connection does, and releases it at once.
actor RelayProbe {
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    struct Relay: Sendable {
        let relayed: TransportAddress
        let reflexive: TransportAddress
        let time: Duration
    }

    struct Failure: Error, CustomStringConvertible {
        let error: TURNError
        /// The reason for the end of the socket to the server; nil if it did not end.
        let reason: String?

        var description: String { reason.map { "no connection: \($0)" } ?? error.description }

        /// Whether there was no answer, as behind a firewall that drops packets. A rejection is an answer.
        var isSilence: Bool {
            guard reason == nil else { return false }
            return switch error {
            case .unreachable, .connectionLost: true
            default: false
            }
        }
    }

    private nonisolated let eventLoop: any EventLoop
    private var allocation: TURNAllocation
    private let server: ICEServerAddress
    private let setting: DedicatedSocket.Setting
    private var socket: DedicatedSocket?
    private var socketFailure: String?
    private var timer: Scheduled<Void>?
    private var started = Instant(nanoseconds: 0)
    private var relay: Relay?
    private var waiter: CheckedContinuation<Result<Relay, Failure>, Never>?

    private static let patience = Duration.seconds(5)

    /// - Parameter host: The name in the certificate of a server over TLS.
    init(
        _ server: ICEServerAddress, credentials: LongTermCredentials, host: String, trustRoots: TrustRoots,
        eventLoop: any EventLoop
    ) {
        self.eventLoop = eventLoop
        self.server = server
        setting = DedicatedSocket.Setting(
            host: host, trustRoots: trustRoots, openingLimit: Self.patience - .milliseconds(500))
        var configuration = TURNConfiguration(
            server: server.address, transport: server.transport, credentials: credentials,
            family: server.address.ip.isV4 ? .v4 : .v6)
        // A user waits: three requests within five seconds are enough to conclude that there is no answer.
        configuration.timing.transmissions = 3
        configuration.timing.finalWait = 5
        configuration.timing.streamTimeout = Self.patience
        allocation = TURNAllocation(configuration: configuration, generator: SystemRandomNumberGenerator())
    }

    /// Returns the relayed address, or the reason why there is none.
    func run(from base: IPAddress) async -> Result<Relay, Failure> {
        socket = DedicatedSocket(
            DedicatedSocket.Endpoint(
                transport: server.transport, base: TransportAddress(ip: base, port: 0), destination: server.address),
            setting: setting, on: eventLoop,
            receive: { [weak self] bytes in
                let message = bytes
                self?.assumeIsolated { $0.receive(message) }
            },
            ended: { [weak self] reason in self?.assumeIsolated { $0.socketDidEnd(reason) } })
        started = MonotonicClock.now
        allocation.start(now: started)
        let result = await withCheckedContinuation { continuation in
            waiter = continuation
            advance()
        }
        timer?.cancel()
        socket?.close()
        return result
    }

    private func receive(_ bytes: ByteBuffer) {
        _ = allocation.handle(bytes.readableBytesSpan, from: server.address, now: MonotonicClock.now)
        advance()
    }

    private func socketDidEnd(_ reason: String) {
        socketFailure = reason
        allocation.transportFailed(now: MonotonicClock.now)
        advance()
    }

    private func advance() {
        while let transmit = allocation.pollTransmit() {
            // A redirection to another server is ignored.
            guard transmit.server == server.address else { continue }
            socket?.write(ByteBuffer(bytes: transmit.bytes))
        }
        socket?.flush()
        while let event = allocation.pollEvent() {
            switch event {
            case .allocated(let relayed, let reflexive):
                relay = Relay(relayed: relayed, reflexive: reflexive, time: MonotonicClock.now - started)
                // The address is not needed any more.
                allocation.release(now: MonotonicClock.now)
                return advance()
            case .failed(let error):
                finish(
                    relay.map { .success($0) } ?? .failure(Failure(error: error, reason: socketFailure)))
            case .released: if let relay { finish(.success(relay)) }
            case .redirected: finish(.failure(Failure(error: .redirectedInCircles, reason: nil)))
            case .permissionRefused, .peerUnreachable: break
            }
        }
        timer?.cancel()
        guard waiter != nil, let deadline = allocation.nextDeadline else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(UInt64(max(0, deadline.nanoseconds)))
        ) { [weak self] in
            self?.assumeIsolated {
                $0.allocation.handleTimeout(now: MonotonicClock.now)
                $0.advance()
            }
        }
    }

    private func finish(_ result: Result<Relay, Failure>) {
        waiter?.resume(returning: result)
        waiter = nil
    }
}
