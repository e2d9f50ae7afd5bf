internal import Glibc
internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// Two sockets with a simulated network between them, in real time.
///
///     left end ◀──▶ left socket ◀── network ──▶ right socket ◀──▶ right end
///
/// The right end's address is given; the left end is the last source that sent to the left socket.
final class Relay {
    /// The conditions of the network between the sockets; the times of the steps count from the first datagram.
    struct Conditions {
        var steps: [(from: Duration, rate: DataRate)]
        var queue: Duration
        var path: Dumbbell<Packet>.Path
        /// The interval of forced losses: of so many datagrams from left to right, the last is lost, in addition to
        /// random losses. Nil for none.
        var lossInterval: Int?
        /// The number of datagrams from left to right that no forced loss affects.
        var lossStart = 0
        /// Whether a long simulated TCP flow shares the link from left to right.
        var hasDownload = false
        var seed: UInt64
    }

    /// A packet on the network.
    enum Packet: Sendable {
        case datagram([UInt8])
        case tcp(TCPTraffic.Packet)
    }

    let left: LoopbackSocket
    let right: LoopbackSocket
    private let rightEnd: LoopbackSocket.Address
    private let conditions: Conditions
    private var leftEnd: LoopbackSocket.Address?
    /// The network; nil before the first datagram.
    private var network: Dumbbell<Packet>?
    private var download: TCPTraffic?
    /// The number of datagrams from left to right.
    private var taken = 0
    private(set) var counters = Counters()
    private(set) var use = PathUse()
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    /// The fates of the datagrams in each direction.
    struct Counters {
        var forward = (delivered: 0, lost: 0, dropped: 0)
        var backward = (delivered: 0, lost: 0, dropped: 0)
    }

    init(to rightEnd: LoopbackSocket.Address, on host: UInt32, _ conditions: Conditions) throws {
        left = try LoopbackSocket(on: host)
        right = try LoopbackSocket(on: host)
        self.rightEnd = rightEnd
        self.conditions = conditions
    }

    deinit { memory.deallocate() }

    /// Forwards until this much time has passed, or SIGTERM arrives.
    func run(for duration: Duration) {
        var asked = sigset_t()
        sigemptyset(&asked)
        sigaddset(&asked, SIGTERM)
        // Blocked, and polled in each iteration, so that no datagram is interrupted.
        sigprocmask(SIG_BLOCK, &asked, nil)
        let end = Self.now.advanced(by: duration)
        while Self.now < end, sigpending(&asked) == 0, sigismember(&asked, SIGTERM) == 0 {
            wait(until: min(end, network?.nextArrival ?? end, download?.nextDeadline ?? end))
            take()
            while let delivery = network?.poll(now: Self.now) { give(delivery) }
            driveDownload()
        }
    }

    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    private func wait(until due: Instant) {
        // Whole milliseconds, rounded up: datagrams arrive at most one millisecond late.
        let remaining = min(Self.longestNap, max(0, (due - Self.now).wholeNanoseconds + 999_999) / 1_000_000)
        var descriptors = [left.descriptor, right.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: remaining))
    }

    /// The longest wait in milliseconds, after which SIGTERM is polled.
    private static let longestNap: Int64 = 100

    private func take() {
        while let (bytes, source) = left.receive(into: memory) {
            leftEnd = source
            carry(bytes, .forward)
        }
        while let (bytes, source) = right.receive(into: memory) {
            // A socket without a bound address answers on loopback from loopback.
            if source.port == rightEnd.port { carry(bytes, .backward) }
        }
    }

    private func carry(_ bytes: [UInt8], _ direction: Dumbbell<Packet>.Direction) {
        if direction == .forward, isLostInTurn() {
            counters.forward.lost += 1
            return
        }
        let now = Self.now
        if network == nil { begin(now: now) }
        let size = bytes.count + SimulatedLink<Datagram>.headerOverhead
        let fate = network?.send(.datagram(bytes), size: size, flow: 0, direction, now: now)
        if direction == .forward, let fate { use.note(fate, size: size, now: now) }
        switch (fate, direction) {
        case (.lost, .forward): counters.forward.lost += 1
        case (.lost, .backward): counters.backward.lost += 1
        case (.dropped, .forward): counters.forward.dropped += 1
        case (.dropped, .backward): counters.backward.dropped += 1
        case (.delivered, _), (nil, _): break
        }
    }

    private func isLostInTurn() -> Bool {
        taken += 1
        return taken > conditions.lossStart && conditions.lossInterval.map { taken.isMultiple(of: $0) } ?? false
    }

    private func give(_ delivery: Dumbbell<Packet>.Delivery) {
        switch (delivery.payload, delivery.direction) {
        case (.tcp(let packet), _): download?.receive(packet, now: Self.now)
        case (.datagram(let bytes), .forward):
            counters.forward.delivered += 1
            right.send(bytes, to: rightEnd)
        case (.datagram(let bytes), .backward):
            counters.backward.delivered += 1
            if let leftEnd { left.send(bytes, to: leftEnd) }
        }
    }

    private func driveDownload() {
        let now = Self.now
        if let due = download?.nextDeadline, due <= now { download?.handleTimeout(now: now) }
        while let packet = download?.poll(now: now) {
            _ = network?.send(
                .tcp(packet), size: packet.byteCount, flow: 1, packet.isData ? .forward : .backward, now: now)
        }
    }

    private func begin(now: Instant) {
        let made = makeNetwork(start: now)
        network = made
        use = PathUse(of: made.forward.capacity, from: now.advanced(by: Self.startTime))
        guard conditions.hasDownload else { return }
        download = TCPTraffic(
            .bulk, .cubic, start: now.advanced(by: Self.startTime), end: .distantFuture, seed: conditions.seed)
    }

    /// The time for the sender to measure the route: from then on its use counts, and the TCP flow is active.
    private static let startTime = Duration.seconds(5)

    private func makeNetwork(start: Instant) -> Dumbbell<Packet> {
        let trace = CapacityTrace(
            initially: conditions.steps[0].rate,
            steps: conditions.steps.dropFirst().map { .init(from: start.advanced(by: $0.from), rate: $0.rate) })
        let back = max(trace.steps.map(\.rate).max() ?? .zero, .kilobitsPerSecond(4000))
        return Dumbbell(
            forward: Bottleneck(capacity: trace, limit: .init(duration: conditions.queue)),
            backward: Bottleneck(capacity: CapacityTrace(constant: back), limit: .init(duration: conditions.queue)),
            paths: [conditions.path, .init(delay: conditions.path.delay)], seed: conditions.seed)
    }
}
