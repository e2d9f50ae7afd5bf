import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareICE

@Suite struct AnsweredRequestsTests {
    @Test("The oldest answered request is forgotten first, repeatedly")
    func forgetting() throws {
        let address = try #require(TransportAddress("192.0.2.1", port: 1))
        var generator = SeededGenerator(seed: 9)
        let ids = (0..<20).map { _ in TransactionID(using: &generator) }
        var requests = AnsweredRequests(limit: 4)
        for (index, id) in ids.enumerated() {
            requests.note(id, from: address, to: BaseAddress(address))
            requests.note(id, from: address, to: BaseAddress(address))
            for (known, id) in ids.enumerated() {
                #expect((requests.path(of: id) != nil) == (known <= index && known > index - 4), "\(known) at \(index)")
            }
            #expect(requests.count == min(index + 1, 4))
        }
    }
}
