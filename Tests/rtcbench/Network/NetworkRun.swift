internal import RTCShareCongestionControl
internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// A run of one case in virtual time.
struct NetworkRun {
    typealias Network = Dumbbell<Packet>

    /// A packet on the network.
    enum Packet: Sendable {
        case datagram(Datagram)
        case tcp(TCPTraffic.Packet)
    }

    private let plan: NetworkCase
    private let seed: UInt64
    private let deviations: Deviations
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let end: Instant
    private var now: Instant
    private var network: Network
    /// The shares; nil before their start.
    private var shares: [SimulatedShare?]
    private var deadlines: [Instant]
    private var downloads: [TCPTraffic]
    private var record: NetworkRecord
    private var row = 0

    init(_ plan: NetworkCase, seed: UInt64, seconds limit: Double?, deviations: Deviations = .all) {
        self.plan = plan
        self.deviations = deviations
        self.seed = seed
        let seconds = min(plan.seconds, limit ?? plan.seconds)
        let start = start
        func instant(_ time: Double) -> Instant { start.advanced(by: .seconds(time)) }
        end = instant(seconds)
        now = start
        let traces = [plan.forward, plan.backward].map { steps in
            CapacityTrace(
                initially: .kilobitsPerSecond(steps[0].kilobits),
                steps: steps.dropFirst().map { .init(from: instant($0.from), rate: .kilobitsPerSecond($0.kilobits)) })
        }
        let limit = Bottleneck.QueueLimit(duration: .milliseconds(plan.queue))
        network = Network(
            forward: Bottleneck(capacity: traces[0], limit: limit),
            backward: Bottleneck(capacity: traces[1], limit: limit),
            paths: plan.shares.map {
                .init(
                    delay: .milliseconds($0.delay), jitter: .milliseconds($0.jitter), forwardLoss: $0.loss,
                    backwardLoss: $0.loss)
            } + plan.downloads.map { _ in .init(delay: .milliseconds(50)) }, seed: seed)
        shares = plan.shares.map { _ in nil }
        deadlines = plan.shares.map { instant($0.start) }
        downloads = plan.downloads.enumerated().map { index, download in
            TCPTraffic(
                download.kind, .cubic, start: instant(download.start), end: instant(download.end),
                seed: seed &* 1000 &+ UInt64(index))
        }
        let rows = Int((seconds / NetworkRecord.step).rounded())
        record = NetworkRecord(
            seconds: seconds,
            forwardCapacity: (0..<rows).map {
                Double(traces[0].rate(at: instant(Double($0) * NetworkRecord.step)).bitsPerSecond) / 1000
            },
            backwardCapacity: (0..<rows).map {
                Double(traces[1].rate(at: instant(Double($0) * NetworkRecord.step)).bitsPerSecond) / 1000
            },
            shares: plan.shares.map { .init(name: $0.name, direction: $0.direction, start: $0.start, steps: rows) },
            downloads: plan.downloads.map { .init(name: $0.name, direction: .forward, start: $0.start, steps: rows) })
    }

    /// Runs the case.
    mutating func run() throws -> NetworkRecord {
        while now < end {
            while let delivery = network.poll(now: now) { deliver(delivery) }
            for index in shares.indices where deadlines[index] <= now { try advance(share: index) }
            for index in downloads.indices { advance(download: index) }
            while let rowEnd = endOfRow, rowEnd <= now { finishRow() }
            var next = min(end, network.nextArrival ?? end, endOfRow ?? end)
            for deadline in deadlines { next = min(next, deadline) }
            for download in downloads { next = min(next, download.nextDeadline ?? end) }
            now = max(now, next)
        }
        while row < record.forwardCapacity.count { finishRow() }
        for (index, share) in shares.enumerated() {
            guard let share else { continue }
            record.shares[index].sharpness = share.sharpness.map { (($0.now - start).seconds, $0.isSharp) }
            record.shares[index].framesSent = share.framesSent
            record.shares[index].framesReceived = share.framesReceived
            record.shares[index].keyFrames = share.keyFrames
            record.shares[index].failure = share.failure
        }
        return record
    }

    private var endOfRow: Instant? {
        guard row < record.forwardCapacity.count else { return nil }
        return start.advanced(by: .milliseconds(Int64((Double(row + 1) * NetworkRecord.step * 1000).rounded())))
    }

    private mutating func finishRow() {
        for index in shares.indices {
            record.shares[index].estimate[row] =
                shares[index]?.estimate(now: now).map { Double($0.bitsPerSecond) / 1000 }
        }
        row += 1
    }

    private mutating func deliver(_ delivery: Network.Delivery) {
        let step = min(row, record.forwardCapacity.count - 1)
        switch delivery.payload {
        case .datagram(let datagram):
            let atSender = delivery.direction != plan.shares[delivery.flow].direction
            if !atSender { record.shares[delivery.flow].arrived[step] += Double(delivery.size) }
            shares[delivery.flow]?.receive(datagram, atSender: atSender, now: now)
            deadlines[delivery.flow] = now
        case .tcp(let packet):
            let index = delivery.flow - shares.count
            if packet.isData { record.downloads[index].arrived[step] += Double(delivery.size) }
            downloads[index].receive(packet, now: now)
        }
    }

    private mutating func advance(share index: Int) throws {
        let plan = plan.shares[index]
        if shares[index] == nil {
            shares[index] = try SimulatedShare(
                plan, seed: seed &* 100 &+ UInt64(index) &* 10, deviations: deviations, start: start, now: now)
        }
        guard let share = shares[index] else { return }
        share.advance(now: now) { datagram, bySender in
            let size = Self.wireByteCount(datagram)
            let fate = network.send(
                .datagram(datagram), size: size, flow: index, bySender ? plan.direction : plan.direction.opposite,
                now: now)
            if bySender { record.shares[index].note(size, fate, time: (now - start).seconds, step: row) }
        }
        deadlines[index] = share.nextDeadline(now: now)
    }

    private mutating func advance(download index: Int) {
        if let due = downloads[index].nextDeadline, due <= now { downloads[index].handleTimeout(now: now) }
        while let packet = downloads[index].poll(now: now) {
            let fate = network.send(
                .tcp(packet), size: packet.byteCount, flow: shares.count + index,
                packet.isData ? .forward : .backward, now: now)
            if packet.isData {
                record.downloads[index].note(packet.byteCount, fate, time: (now - start).seconds, step: row)
            }
        }
    }

    /// Returns the size with IPv4 and UDP headers. Handshake datagrams differ by some bytes between runs, because
    /// signatures do; here all have the same size, so that a run is reproducible.
    private static func wireByteCount(_ datagram: Datagram) -> Int {
        let isHandshake = datagram.bytes.first.map { (20...63).contains($0) } == true
        return isHandshake ? 800 : datagram.bytes.count + SimulatedLink<Datagram>.headerOverhead
    }
}

extension NetworkRecord.Flow {
    fileprivate mutating func note(_ size: Int, _ fate: NetworkRun.Network.Fate, time: Double, step: Int) {
        guard step < sent.count else { return }
        sent[step] += Double(size)
        packets[step] += 1
        switch fate {
        case .delivered(let wait): noteWait(wait.milliseconds, time: time, step: step)
        case .lost(let wait):
            lost[step] += 1
            noteWait(wait.milliseconds, time: time, step: step)
        case .dropped: lost[step] += 1
        }
    }

    private mutating func noteWait(_ wait: Double, time: Double, step: Int) {
        longestWait[step] = max(longestWait[step], wait)
        waits.append(Packet(time: time, wait: wait))
    }
}
