import RTCShareSecureTransport
import RTCShareWireFormat

/// SplitMix64: small, seedable, the same on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Certificates that the tests share: making a key costs more than a handshake.
enum Identities {
    static let alice = makeCertificate("alice")
    static let bob = makeCertificate("bob")

    private static func makeCertificate(_ name: String) -> Certificate? {
        try? Certificate(selfSignedFor: name, notBefore: 1_700_000_000, notAfter: 1_900_000_000)
    }
}

/// Two connections with a path between them that loses, delays, reorders and doubles datagrams by a seed.
struct SimulatedPath {
    let client: DTLSConnection
    let server: DTLSConnection
    var loss = 0.0
    var duplication = 0.0
    var reordering = 0.0
    /// Changes a datagram on its way; the count is of datagrams sent so far.
    var tamper: ((_ datagram: [UInt8], _ count: Int) -> [UInt8])?
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var datagramsSent = 0
    private(set) var largestDatagram = 0
    private var generator: SeededGenerator
    private var inFlight: [(arrival: Instant, order: Int, toServer: Bool, datagram: [UInt8])] = []

    init(client: DTLSConnection, server: DTLSConnection, seed: UInt64 = 1) {
        self.client = client
        self.server = server
        generator = SeededGenerator(seed: seed)
    }

    /// Runs until both ends have come to rest or `limit` has passed.
    mutating func run(for limit: Duration = .seconds(60)) {
        let end = now.advanced(by: limit)
        server.start(now: now)
        client.start(now: now)
        collect()
        while step(until: end) {}
    }

    /// Goes on to the next event at or before `end`; false if there is none.
    mutating func step(until end: Instant) -> Bool {
        let arrival = inFlight.map(\.arrival).min()
        guard let next = [arrival, client.nextDeadline, server.nextDeadline].compactMap({ $0 }).min(), next <= end
        else { return false }
        now = max(now, next)
        if arrival == next, let index = nextArrival() {
            let (_, _, toServer, datagram) = inFlight.remove(at: index)
            (toServer ? server : client).handle(datagram: datagram.span.bytes, now: now)
        } else {
            client.handleTimeout(now: now)
            server.handleTimeout(now: now)
        }
        collect()
        return true
    }

    /// Puts on the path what both ends want sent.
    mutating func collect() {
        while let datagram = client.pollTransmit() { send(datagram, toServer: true) }
        while let datagram = server.pollTransmit() { send(datagram, toServer: false) }
    }

    private func nextArrival() -> Int? {
        inFlight.indices.min { (inFlight[$0].arrival, inFlight[$0].order) < (inFlight[$1].arrival, inFlight[$1].order) }
    }

    private mutating func send(_ original: [UInt8], toServer: Bool) {
        datagramsSent += 1
        largestDatagram = max(largestDatagram, original.count)
        let datagram = tamper?(original, datagramsSent) ?? original
        if Double.random(in: 0..<1, using: &generator) < loss { return }
        let copies = Double.random(in: 0..<1, using: &generator) < duplication ? 2 : 1
        for copy in 0..<copies {
            var delay = Duration.milliseconds(20)
            if copy > 0 || Double.random(in: 0..<1, using: &generator) < reordering {
                delay += .microseconds(Int64.random(in: 1...40_000, using: &generator))
            }
            inFlight.append((now.advanced(by: delay), inFlight.count + datagramsSent * 4, toServer, datagram))
        }
    }
}

extension DTLSConnection {
    /// The error that it failed with.
    var failure: DTLSError? {
        if case .failed(let error) = state { error } else { nil }
    }
}

extension SRTPMasterKey {
    /// The key alone.
    var key: [UInt8] { withUnsafeBytes { Array($0.prefix(keyByteCount)) } }
    /// The salt alone.
    var salt: [UInt8] { withUnsafeBytes { Array($0.dropFirst(keyByteCount)) } }
}
