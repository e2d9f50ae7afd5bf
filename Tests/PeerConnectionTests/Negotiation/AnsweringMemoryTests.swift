import RTCShareCProcess
import RTCShareICE
import RTCShareNetworkSimulation
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Memory after answering")
struct AnsweringMemoryTests {
    /// `trickles`: candidates come one by one, too, before the description that they belong to and after it.
    @Test("Released answerers and offerers leave no memory behind", arguments: [false, true])
    func nothingStays(trickles: Bool) throws {
        var random = SeededGenerator(seed: 1)
        let sending = try LocalIdentity(
            media: [.video(streamID: "alice#content", isContent: true)], unixTime: 1_700_000_000, random: &random)
        let viewing = try LocalIdentity(media: [], unixTime: 1_700_000_000, random: &random)
        func meet() throws {
            let now = Instant(nanoseconds: 0)
            var sender = try PeerConnection(
                as: .offerer, identity: sending, configuration: .init(), random: SeededGenerator(seed: 2))
            var viewer = try PeerConnection(
                as: .answerer, identity: viewing, configuration: .init(), random: SeededGenerator(seed: 3))
            for port: UInt16 in 5000..<5008 {
                sender.addLocalAddress(TransportAddress(ip: .v4(0xC000_0201), port: port), now: now)
                viewer.addLocalAddress(TransportAddress(ip: .v4(0xC633_6401), port: port), now: now)
            }
            let offer = try sender.makeOffer()
            func tell(_ ports: Range<Int>) throws {
                guard trickles else { return }
                let fragment = try #require(offer.description.firstMatch(of: /a=ice-ufrag:(\S+)/)).1
                for port in ports {
                    let line = "candidate:1 1 udp 1 192.0.2.1 \(port) typ host"
                    try viewer.addRemoteCandidate(line, ufrag: String(fragment), now: now)
                }
            }
            try tell(6000..<6008)
            let answer = try viewer.answer(offer: offer, now: now)
            try tell(7000..<7008)
            try sender.accept(answer: answer, to: offer, now: now)
        }
        // Libraries keep some of what they were given back, up to a bound.
        for _ in 0..<64 { try meet() }
        let before = memory_allocated()
        for _ in 0..<512 { try meet() }
        let grown = Int64(memory_allocated()) - Int64(before)
        // The candidates of one meeting alone take two kilobytes.
        #expect(grown < 512 << 10, "\(grown) bytes")
    }
}
