import STUN
import Testing
import WireFormat

@testable import ICE

/// Small rules that both ends of a call rest on.
@Suite struct PairRuleTests {
    @Test(
        "Both ends give a pair the priority of RFC 8445 6.1.2.3",
        arguments: [(7, 7), (3, 9), (9, 3)] as [(UInt32, UInt32)])
    func priority(controlling: UInt32, controlled: UInt32) {
        let expected =
            UInt64(min(controlling, controlled)) << 32 + 2 * UInt64(max(controlling, controlled))
            + (controlling > controlled ? 1 : 0)
        #expect(CandidatePair.priority(local: controlling, remote: controlled, role: .controlling) == expected)
        #expect(CandidatePair.priority(local: controlled, remote: controlling, role: .controlled) == expected)
    }

    @Test("Of the requests that were answered the oldest is forgotten first, round after round")
    func answeredRequests() throws {
        let address = try #require(TransportAddress("192.0.2.1", port: 1))
        var generator = SeededGenerator(seed: 9)
        let ids = (0..<20).map { _ in TransactionID(using: &generator) }
        var requests = AnsweredRequests(limit: 4)
        for (index, id) in ids.enumerated() {
            requests.note(id, from: address, to: address)
            requests.note(id, from: address, to: address)
            for (known, id) in ids.enumerated() {
                #expect((requests.path(of: id) != nil) == (known <= index && known > index - 4), "\(known) at \(index)")
            }
            #expect(requests.count == min(index + 1, 4))
        }
    }
}
