import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// Whom a datagram at a shared port is for.
@Suite struct PortDemultiplexerTests {
    private static let local = TransportAddress(ip: .v4(0xC000_0201), port: 5000)
    private static let peer = TransportAddress(ip: .v4(0xC633_6401), port: 6000)
    private static let media: [UInt8] = [0x80, 96, 0, 1]
    private let start = Instant(nanoseconds: 0)

    private func message(_ kind: MessageClass, _ attributes: [Attribute] = []) throws -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return try STUNMessage(kind, transactionID: TransactionID(using: &generator), attributes: attributes).encoded()
    }

    @Test("A request is delivered by its user name fragment and does not assign its source address")
    func requestsByFragment() throws {
        var ports = PortDemultiplexer()
        let (one, two) = (ports.join(), ports.join())
        ports.register(["aaaa"], of: one)
        ports.register(["bbbb"], of: two)
        let request = try message(.request, [.username("bbbb:peer")])
        #expect(ports.member(for: request.span.bytes, from: Self.peer, at: Self.local) == two)
        #expect(ports.member(for: Self.media.span.bytes, from: Self.peer, at: Self.local) == nil)
        let strange = try message(.request, [.username("cccc:peer")])
        #expect(ports.member(for: strange.span.bytes, from: Self.peer, at: Self.local) == nil)
        #expect(ports.statistics.unknownSources == 1 && ports.statistics.unknownFragments == 1)
    }

    @Test("A forged check does not assign a connection's address to another connection")
    func contestedAddress() throws {
        var ports = PortDemultiplexer()
        let (one, two) = (ports.join(), ports.join())
        ports.note(Self.media.span.bytes, sentBy: one, from: Self.local, to: Self.peer, now: start)
        let success = try message(.successResponse)
        ports.note(success.span.bytes, sentBy: two, from: Self.local, to: Self.peer, now: start)
        #expect(ports.member(for: Self.media.span.bytes, from: Self.peer, at: Self.local) == one)
        #expect(ports.statistics.contested == 1)
        let later = start.advanced(by: .seconds(31))
        ports.note(success.span.bytes, sentBy: two, from: Self.local, to: Self.peer, now: later)
        #expect(ports.member(for: Self.media.span.bytes, from: Self.peer, at: Self.local) == two)
        // An answer from an address has precedence over an answer that was sent to it.
        ports.note(Self.media.span.bytes, sentBy: one, from: Self.local, to: Self.peer, now: later)
        #expect(ports.member(for: Self.media.span.bytes, from: Self.peer, at: Self.local) == one)
    }

    @Test("A connection that ended leaves no entry, and the tables are limited")
    func endedConnection() throws {
        var ports = PortDemultiplexer()
        let one = ports.join()
        for port in UInt16(1)...200 {
            let peer = TransportAddress(ip: Self.peer.ip, port: port)
            let now = start.advanced(by: .milliseconds(Int(port)))
            ports.note(Self.media.span.bytes, sentBy: one, from: Self.local, to: peer, now: now)
        }
        let known = (UInt16(1)...200).filter {
            let peer = TransportAddress(ip: Self.peer.ip, port: $0)
            return ports.member(for: Self.media.span.bytes, from: peer, at: Self.local) == one
        }
        #expect(known.count == PortDemultiplexer.pathLimit && known.last == 200)
        ports.leave(one)
        let last = TransportAddress(ip: Self.peer.ip, port: 200)
        #expect(ports.member(for: Self.media.span.bytes, from: last, at: Self.local) == nil)
    }

    @Test("A connection keeps its fragment in use after any number of rollbacks, and takes none from another")
    func fragmentsInUse() throws {
        var ports = PortDemultiplexer()
        let (one, two) = (ports.join(), ports.join())
        func owner(of fragment: String) throws -> PortDemultiplexer.Member? {
            let request = try message(.request, [.username("\(fragment):peer")])
            return ports.member(for: request.span.bytes, from: Self.peer, at: Self.local)
        }
        for offered in (0..<10).map({ "offer\($0)" }) {
            ports.register(["live", offered], of: one)
            #expect(try owner(of: "live") == one && owner(of: offered) == one)
            ports.register(["live"], of: one)
            #expect(try owner(of: "live") == one && owner(of: offered) == nil)
        }
        ports.register(["live", "other"], of: two)
        #expect(try owner(of: "live") == one && owner(of: "other") == two)
        ports.register(["other"], of: two)
        #expect(try owner(of: "live") == one)
    }

    @Test("The newest requests of a connection are remembered")
    func newestAreKnown() throws {
        var ports = PortDemultiplexer()
        let one = ports.join()
        var generator = SystemRandomNumberGenerator()
        let requests = (0..<1000).map { _ in TransactionID(using: &generator) }
        for id in requests {
            let request = try STUNMessage(.request, transactionID: id).encoded()
            ports.note(request.span.bytes, sentBy: one, from: Self.local, to: Self.peer, now: start)
        }
        let answered = try requests.filter { id in
            let answer = try STUNMessage(.successResponse, transactionID: id).encoded()
            return ports.member(for: answer.span.bytes, from: Self.peer, at: Self.local) == one
        }
        #expect(answered == requests.suffix(answered.count))
        #expect((PortDemultiplexer.transactionLimit...2 * PortDemultiplexer.transactionLimit).contains(answered.count))
    }
}
