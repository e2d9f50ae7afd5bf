import RTCShareWireFormat
import Testing

@testable import RTCShareSignaling

@Suite("The connections of a server")
struct ConnectionRosterTests {
    private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("New connections of strangers from one network close only that network's oldest one")
    func strangersOfOneNetwork() throws {
        var roster = ConnectionRoster<Int>(limit: 10, strangersPerNetwork: 2)
        #expect(roster.enter(0, from: try Self.address("192.0.2.9")) == .admitted(closing: nil))
        for number in 1...2 {
            #expect(roster.enter(number, from: try Self.address("2001:db8::\(number)")) == .admitted(closing: nil))
        }
        #expect(roster.enter(3, from: try Self.address("2001:db8::3")) == .admitted(closing: 1))
        roster.setInvited(2)
        #expect(roster.enter(4, from: try Self.address("2001:db8::4")) == .admitted(closing: nil))
        #expect(roster.enter(5, from: try Self.address("2001:db8:0:1::5")) == .admitted(closing: nil))
        #expect(roster.count == 5)
    }

    @Test("Connections from this machine have no limit for their network, because a proxy has many clients")
    func loopback() throws {
        var roster = ConnectionRoster<Int>(limit: 4, strangersPerNetwork: 1)
        for number in 0..<4 {
            #expect(roster.enter(number, from: try Self.address("127.0.0.1")) == .admitted(closing: nil))
        }
        #expect(roster.enter(4, from: try Self.address("127.0.0.1")) == .admitted(closing: 0))
    }

    @Test("Connections are closed in the order of silent strangers, busy ones and idle invited clients")
    func order() {
        var roster = ConnectionRoster<Int>(limit: 4, strangersPerNetwork: 4)
        for number in 0..<4 { #expect(roster.enter(number, from: nil) == .admitted(closing: nil)) }
        for number in [0, 1] { roster.setInvited(number) }
        for number in [0, 2] { roster.beginAnswer(number) }
        #expect(roster.enter(4, from: nil) == .admitted(closing: 3))
        roster.beginAnswer(4)
        #expect(roster.enter(5, from: nil) == .admitted(closing: 2))
        roster.setInvited(4)
        roster.setInvited(5)
        #expect(roster.enter(6, from: nil) == .admitted(closing: 1))
        for number in [5, 6] {
            roster.setInvited(number)
            roster.beginAnswer(number)
        }
        #expect(roster.enter(7, from: nil) == .refused)
        roster.endAnswer(0)
        #expect(roster.enter(7, from: nil) == .admitted(closing: 0))
        roster.leave(7)
        #expect(roster.enter(8, from: nil) == .admitted(closing: nil))
    }
}
