internal import Foundation
internal import Glibc
internal import RTCShareCDatagrams
internal import RTCShareLocks
internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// Forwards the viewers' datagrams over lossy links on this machine, on a thread of its own.
///
///     sharing process ◀──▶ near socket ◀── loss ──▶ far socket ◀──▶ viewer
///
/// Each end has the socket on its side as the other end's address.
final class SoakRelay: Sendable {
    /// A link: two sockets, and its state.
    private struct Path {
        let near: Int32
        let far: Int32
        let nearPort: UInt16
        let farPort: UInt16
        var sharer: TransportAddress
        var viewer: TransportAddress?
        var loss: Double
        /// The time before which no packet passes.
        var silentUntil = Instant(nanoseconds: 0)

        func destination(isToViewer: Bool) -> (descriptor: Int32, address: TransportAddress?) {
            isToViewer ? (far, viewer) : (near, sharer)
        }
    }

    private struct State {
        var paths: [Int: Path] = [:]
        var random: SeededGenerator
    }

    private let state: Locked<State>
    private let readiness = readiness_open()
    private static let loopback = IPAddress.v4(0x7F00_0001)

    init(seed: UInt64) {
        state = Locked(State(random: SeededGenerator(seed: seed)))
    }

    /// Opens a viewer's link to the sharing process, and returns the port for the viewer.
    func open(viewer: Int, sharerPort: UInt16, loss: Double) throws -> UInt16 {
        let near = try CrowdSocket.open(at: Self.loopback)
        let far: (descriptor: Int32, address: TransportAddress)
        do {
            far = try CrowdSocket.open(at: Self.loopback)
        } catch {
            Glibc.close(near.descriptor)
            throw error
        }
        let path = Path(
            near: near.descriptor, far: far.descriptor, nearPort: near.address.port, farPort: far.address.port,
            sharer: TransportAddress(ip: Self.loopback, port: sharerPort), viewer: nil, loss: loss)
        state.withLock { $0.paths[viewer] = path }
        readiness_watch(readiness, path.near, UInt64(viewer) << 1)
        readiness_watch(readiness, path.far, UInt64(viewer) << 1 | 1)
        return path.farPort
    }

    /// Sets a viewer's port, and returns the port for the sharing process.
    func connect(viewer: Int, port: UInt16) -> UInt16? {
        state.withLock { state in
            state.paths[viewer]?.viewer = TransportAddress(ip: Self.loopback, port: port)
            return state.paths[viewer]?.nearPort
        }
    }

    /// Returns the port at which a viewer reaches the sharing process.
    func farPort(viewer: Int) -> UInt16? { state.withLock { $0.paths[viewer]?.farPort } }

    /// The number of links.
    var count: Int { state.withLock { $0.paths.count } }

    func setLoss(_ loss: Double, viewer: Int) { state.withLock { $0.paths[viewer]?.loss = loss } }

    /// Blocks all packets until that time.
    func silence(viewer: Int, until end: Instant) { state.withLock { $0.paths[viewer]?.silentUntil = end } }

    func close(viewer: Int) {
        guard let path = state.withLock({ $0.paths.removeValue(forKey: viewer) }) else { return }
        for descriptor in [path.near, path.far] {
            readiness_forget(readiness, descriptor)
            Glibc.close(descriptor)
        }
    }

    /// Forwards datagrams as long as the process lives.
    func run() -> Never {
        let batch = ReceiveBatch()
        var tokens = [UInt64](repeating: 0, count: 64)
        while true {
            let count = Int(readiness_wait(readiness, &tokens, UInt32(tokens.count), 1000))
            for token in tokens.prefix(max(0, count)) {
                // With the lock, so that no socket is closed, and its number reused, during that.
                state.withLock { Self.carry(&$0, Int(token >> 1), isToViewer: token & 1 == 0, batch) }
            }
        }
    }

    private static func carry(_ state: inout State, _ viewer: Int, isToViewer: Bool, _ batch: ReceiveBatch) {
        guard let path = state.paths[viewer] else { return }
        let now = MonotonicTime.now
        let (descriptor, address) = path.destination(isToViewer: isToViewer)
        for index in 0..<batch.receive(from: isToViewer ? path.near : path.far) {
            guard let address, now >= path.silentUntil, !state.random.chance(path.loss) else { continue }
            CrowdSocket.send(Array(batch.datagram(index)), from: descriptor, to: address)
        }
    }
}

extension String {
    /// Returns this description with its only UDP candidate at another port, and without TCP, with the original port.
    func withCandidate(at port: UInt16) -> (description: String, former: UInt16)? {
        var former: UInt16?
        let lines = components(separatedBy: "\r\n").compactMap { line -> String? in
            guard line.hasPrefix("a=candidate:") else { return line }
            // RFC 8839 §5.1: foundation, component, transport, priority, address, port.
            var fields = line.split(separator: " ").map(String.init)
            guard fields.count > 5, fields[2].lowercased() == "udp", let own = UInt16(fields[5]) else { return nil }
            former = own
            fields[5] = String(port)
            return fields.joined(separator: " ")
        }
        return former.map { (lines.joined(separator: "\r\n"), $0) }
    }
}
