import RTCShareSecureTransport
import RTCShareWireFormat

/// A handshake between two ends, in which datagrams are held back, changed, repeated and made up.
///
/// Without a step every datagram arrives. A step of its kind does so with what is next on its way to an end.
struct DTLSTarget: FuzzTarget {
    private enum Kind {
        /// Somebody's datagram arrives.
        static let forged: UInt8 = 0
        /// What is next on its way arrives.
        static let genuine: UInt8 = 1
        /// It arrives with bytes changed: places (2) and what is added (1).
        static let changed: UInt8 = 2
        /// It arrives with a record of somebody's behind it.
        static let extended: UInt8 = 3
        static let lost: UInt8 = 4
        /// Time passes, in units of 50 ms.
        static let pause: UInt8 = 5
        static let close: UInt8 = 6
        static let rest: UInt8 = 7
        static let count: UInt8 = 8
    }

    private let client: DTLSContext
    private let server: DTLSContext
    private let fingerprints: (client: [Fingerprint], server: [Fingerprint])

    init() throws {
        let ann = try Certificate(notBefore: 1_700_000_000, notAfter: 1_900_000_000)
        let bob = try Certificate(notBefore: 1_700_000_000, notAfter: 1_900_000_000)
        client = try DTLSContext(DTLSConfiguration(certificate: ann))
        server = try DTLSContext(DTLSConfiguration(certificate: bob))
        fingerprints = ([ann.fingerprint()], [bob.fingerprint()])
    }

    /// Two ends and what is on its way to each.
    private struct Path {
        var ends: [DTLSConnection]
        var waiting: [[[UInt8]]] = [[], []]
        var now = Instant(nanoseconds: 1_000_000_000)

        /// Puts what the ends send on its way.
        mutating func collect() {
            for end in ends.indices {
                while let datagram = ends[end].pollTransmit() { waiting[1 - end].append(datagram) }
            }
        }

        mutating func deliver(_ datagram: [UInt8], to end: Int) {
            ends[end].handle(datagram: datagram.span.bytes, now: now)
            collect()
        }

        mutating func next(to end: Int) -> [UInt8]? { waiting[end].isEmpty ? nil : waiting[end].removeFirst() }
    }

    func run(_ input: [UInt8]) throws {
        var path = Path(ends: [
            try DTLSConnection(role: .client, context: client, expectedFingerprints: fingerprints.server),
            try DTLSConnection(role: .server, context: server, expectedFingerprints: fingerprints.client),
        ])
        for end in path.ends { end.start(now: path.now) }
        path.collect()
        for step in Script(input) { take(step, &path) }
        for _ in 0..<8 {
            for end in 0...1 {
                while let datagram = path.next(to: end) { path.deliver(datagram, to: end) }
            }
        }
        guard let one = path.ends[0].keys, let two = path.ends[1].keys else { return }
        expect(one.local == two.remote && one.remote == two.local, "ends that are connected have the same keys")
    }

    private func take(_ step: Script.Step, _ path: inout Path) {
        let end = Int(step.kind >> 7)
        switch step.kind & 0x7F % Kind.count {
        case Kind.genuine:
            if let datagram = path.next(to: end) { path.deliver(datagram, to: end) }
        case Kind.changed:
            guard var datagram = path.next(to: end) else { return }
            for offset in stride(from: 0, to: step.bytes.count, by: 3) where !datagram.isEmpty {
                datagram[step.number16(offset) % datagram.count] &+= UInt8(step.number(offset + 2))
            }
            path.deliver(datagram, to: end)
        case Kind.extended:
            if let datagram = path.next(to: end) { path.deliver(datagram + step.bytes, to: end) }
        case Kind.lost: _ = path.next(to: end)
        case Kind.pause:
            path.now = path.now.advanced(by: .milliseconds(50 * step.number(0)))
            for end in path.ends { end.handleTimeout(now: path.now) }
            path.collect()
        case Kind.close:
            path.ends[end].close()
            path.collect()
        case Kind.rest: path.ends[end].rest()
        default: path.deliver(step.bytes, to: end)
        }
    }

    /// The datagrams of a handshake as somebody else's, and others' in its midst.
    func seeds() throws -> [String: [UInt8]] {
        var path = Path(ends: [
            try DTLSConnection(role: .client, context: client, expectedFingerprints: fingerprints.server),
            try DTLSConnection(role: .server, context: server, expectedFingerprints: fingerprints.client),
        ])
        for end in path.ends { end.start(now: path.now) }
        path.collect()
        var replayed: [(kind: UInt8, bytes: [UInt8])] = []
        for _ in 0..<4 {
            for end in 0...1 {
                while let datagram = path.next(to: end) {
                    replayed.append((UInt8(end) << 7, datagram))
                    path.deliver(datagram, to: end)
                }
            }
        }
        let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40]
        return [
            "replayed": Script.bytes(replayed),
            "alert": Script.bytes([(0x81, []), (0, alert), (1, []), (5, [50]), (0x80, alert)]),
            "changed": Script.bytes([(0x81, []), (2, [0, 14, 1]), (5, [4]), (1, []), (0x84, []), (5, [4])]),
            "closed": Script.bytes([
                (0x81, []), (1, []), (0x81, []), (1, []), (0x81, []), (1, []), (7, []), (0x86, []), (1, []),
            ]),
        ]
    }
}
