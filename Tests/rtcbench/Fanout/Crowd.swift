internal import Foundation
internal import Glibc
internal import RTCShareCDatagrams
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// Plays all viewers, in a separate process and on a separate processor: one thread with `epoll_wait` and `recvmmsg`.
final class Crowd {
    private var viewers: [CrowdViewer] = []
    private let identity: LocalIdentity
    private let context: DTLSContext
    private let readiness: Int32
    private let batch = ReceiveBatch()
    /// The time of the wall clock, the kernel's clock of arrivals, when the monotonic clock read zero.
    private let unixTimeAtZero = MonotonicTime.unixNanosecondsAtZero
    private var input: [UInt8] = []
    private var isOver = false
    private var start = ProcessorTime.now
    private var startTime = Crowd.now

    /// The interval of timers in nanoseconds.
    private static let tick: Int64 = 10_000_000
    /// The maximum number of viewers that decrypt their packets: the cost of all others is only that of counting.
    private static let lookers = 24
    private static let standardInput = UInt64.max

    init() throws {
        var random = SystemRandomNumberGenerator()
        let unixTime = Int64(Date().timeIntervalSince1970)
        identity = try LocalIdentity(media: [], unixTime: unixTime, random: &random)
        context = try DTLSContext(
            DTLSConfiguration(certificate: identity.certificate, profiles: SRTPProfile.preferred))
        readiness = readiness_open()
        readiness_watch(readiness, 0, Self.standardInput)
    }

    private static var now: Instant { MonotonicTime.now }

    /// Runs until the quit command, or the end of the commands.
    func run() throws {
        var tokens = [UInt64](repeating: 0, count: 256)
        var nextTick = Self.now.nanoseconds + Self.tick
        while !isOver {
            let wait = max(0, (nextTick - Self.now.nanoseconds + 999_999) / 1_000_000)
            let count = Int(readiness_wait(readiness, &tokens, UInt32(tokens.count), Int32(wait)))
            for index in 0..<max(0, count) {
                let token = tokens[index]
                if token == Self.standardInput {
                    try readCommands()
                } else {
                    receive(viewers[Int(token)])
                }
            }
            let now = Self.now
            guard now.nanoseconds >= nextTick else { continue }
            nextTick = now.nanoseconds + Self.tick
            for viewer in viewers where !viewer.isUnplugged { viewer.tick(now: now) }
        }
    }

    private func receive(_ viewer: CrowdViewer) {
        var count: Int
        repeat {
            count = batch.receive(from: viewer.descriptor)
            for index in 0..<count {
                viewer.receive(
                    batch.datagram(index), from: batch.source(index), now: batch.arrival(index, since: unixTimeAtZero))
            }
        } while count == ReceiveBatch.capacity
    }

    // MARK: Commands

    private func readCommands() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(0, &buffer, buffer.count)
        guard count > 0 else {
            isOver = true
            return
        }
        input += buffer[..<count]
        while let end = input.firstIndex(of: 0x0A) {
            let command = try JSONDecoder().decode(CrowdCommand.self, from: Data(input[..<end]))
            input.removeFirst(end + 1)
            do {
                try obey(command)
            } catch {
                try reply(.failed("\(error)"))
            }
        }
    }

    private func obey(_ command: CrowdCommand) throws {
        switch command {
        case .offer(let index, let description):
            let viewer = try CrowdViewer(
                offer: description, identity: identity, context: context, address: .v4(0x7F00_0001),
                looksInside: viewers.count < 4 || viewers.count % 64 == 0 && viewers.count / 64 < Self.lookers,
                now: Self.now)
            readiness_watch(readiness, viewer.descriptor, UInt64(viewers.count))
            viewers.append(viewer)
            try reply(.answer(index: index, description: viewer.answer, port: viewer.port))
        case .unplug(let index):
            readiness_forget(readiness, viewers[index].descriptor)
            viewers[index].isUnplugged = true
        case .reset:
            for viewer in viewers { viewer.reset() }
            start = ProcessorTime.now
            startTime = Self.now
        case .report: try reply(.report(report()))
        case .quit: isOver = true
        }
    }

    private func reply(_ reply: CrowdReply) throws {
        try FileHandle.standardOutput.write(contentsOf: reply.line)
    }

    private func report() -> CrowdReport {
        var report = CrowdReport()
        var delays: [Int64] = []
        report.viewers = viewers.count
        report.connected = viewers.count { $0.isConnected }
        for viewer in viewers where !viewer.isUnplugged {
            report.packets += viewer.packets
            report.bytes += viewer.bytes
            report.lost += viewer.lost
            report.padding += viewer.padding
            report.forged += viewer.forged
            report.feedbackSent += viewer.feedbackSent
            delays += viewer.delays
        }
        delays.sort()
        if !delays.isEmpty {
            report.framesTimed = delays.count
            report.delay50 = Double(delays[delays.count / 2]) / 1e6
            report.delay95 = Double(delays[delays.count * 95 / 100]) / 1e6
            report.delayMost = Double(delays[delays.count - 1]) / 1e6
        }
        let elapsed = max(1, Self.now.nanoseconds - startTime.nanoseconds)
        report.processorShare = Double((ProcessorTime.now - start).total) / Double(elapsed)
        return report
    }
}

/// The memory for many datagrams at a time.
final class ReceiveBatch {
    static let capacity = 32
    private static let byteCount = 2048

    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity * byteCount, alignment: 64)
    private let messages = UnsafeMutablePointer<received_datagram>.allocate(capacity: capacity)

    init() {
        messages.initialize(repeating: received_datagram(), count: Self.capacity)
    }

    deinit {
        memory.deallocate()
        messages.deallocate()
    }

    /// Receives the waiting datagrams, and returns their number.
    func receive(from descriptor: Int32) -> Int {
        var error: Int32 = 0
        let count = datagrams_receive(
            descriptor, memory.baseAddress, UInt32(Self.byteCount), messages, UInt32(Self.capacity), &error)
        return max(0, Int(count))
    }

    func datagram(_ index: Int) -> UnsafeMutableRawBufferPointer {
        let start = index * Self.byteCount
        return UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Int(messages[index].length)])
    }

    /// Returns the kernel's arrival time: a viewer on a machine of its own would not have waited for the others.
    func arrival(_ index: Int, since unixTimeAtZero: Int64) -> Instant {
        let arrival = messages[index].arrival
        return arrival == 0 ? MonotonicTime.now : Instant(nanoseconds: arrival - unixTimeAtZero)
    }

    func source(_ index: Int) -> TransportAddress {
        withUnsafeBytes(of: messages[index].name) { TransportAddress($0.loadUnaligned(as: sockaddr_in.self)) }
    }
}
