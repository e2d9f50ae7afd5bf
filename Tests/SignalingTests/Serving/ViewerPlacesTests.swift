import RTCShareWireFormat
import Testing

@testable import RTCShareSignaling

@Suite("The places of a share")
struct ViewerPlacesTests {
    private typealias Holder = ViewerPlaces.Holder

    private static let home = IPAddress.v4(0xC000_0201)
    private static let elsewhere = IPAddress.v4(0xC633_6401)
    private static let loopback = IPAddress.v4(0x7F00_0001)
    private static let now = Instant(nanoseconds: 1_000_000_000_000)

    /// Returns the given numbers of viewers of networks, and viewers who have been away for the given seconds, with
    /// keys "0", "1" and so on.
    private static func holders(
        _ groups: (count: Int, network: IPAddress?, hasConnected: Bool)...,
        away: [Int: (seconds: Double, page: Bool)] = [:]
    ) -> [String: Holder] {
        var all = groups.flatMap { group in
            (0..<group.count).map { _ in Holder(network: group.network, hasConnected: group.hasConnected) }
        }
        for (index, (seconds, page)) in away {
            all[index].awaySince = now.advanced(by: .zero - .seconds(seconds))
            all[index].isPageOpen = page
        }
        return Dictionary(uniqueKeysWithValues: all.enumerated().map { (String($0.offset), $0.element) })
    }

    /// The holders of places, a client, and the expected result.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var limit = 8
        let holders: [String: ViewerPlaces.Holder]
        var client: IPAddress? = ViewerPlacesTests.home
        var refusal: ViewerPlaces.Refusal?
        var replaced: String?
    }

    static let cases = [
        Case(testDescription: "an empty share", holders: [:]),
        Case(testDescription: "no place at all", limit: 0, holders: [:], refusal: .full),
        Case(testDescription: "the last place", holders: holders((7, elsewhere, true))),
        Case(testDescription: "all taken", holders: holders((8, elsewhere, true)), refusal: .full),
        Case(
            testDescription: "the last place is that of a client who connects",
            holders: holders((7, elsewhere, true), (1, elsewhere, false)), refusal: .full),
        // The last quarter.
        Case(testDescription: "within three quarters", limit: 16, holders: holders((11, home, true))),
        Case(testDescription: "the last quarter", limit: 16, holders: holders((12, home, true)), refusal: .networkFull),
        Case(
            testDescription: "the last quarter, with a client who connects", limit: 16,
            holders: holders((11, home, true), (1, home, false)), refusal: .networkFull),
        Case(
            testDescription: "the last quarter, of another network", limit: 16, holders: holders((12, home, true)),
            client: elsewhere),
        Case(
            testDescription: "the last quarter, of this machine", limit: 16, holders: holders((15, loopback, true)),
            client: loopback),
        Case(
            testDescription: "the last quarter, of an unknown client", limit: 16, holders: holders((15, nil, true)),
            client: nil),
        // A home or an office can take all of few places.
        Case(testDescription: "the last of three places", limit: 3, holders: holders((2, home, true))),
        Case(testDescription: "the last of 15 places", limit: 15, holders: holders((14, home, true))),
        // Connecting viewers.
        Case(testDescription: "31 of a network connect", limit: 1000, holders: holders((31, home, false))),
        Case(
            testDescription: "32 of a network connect", limit: 1000, holders: holders((32, home, false)),
            refusal: .crowded),
        Case(
            testDescription: "32 of another network connect", limit: 1000, holders: holders((32, home, false)),
            client: elsewhere),
        Case(
            testDescription: "127 connect", limit: 1000, holders: holders((127, nil, false), (99, nil, true)),
            client: nil),
        Case(
            testDescription: "128 connect", limit: 1000, holders: holders((128, nil, false)), client: nil,
            refusal: .crowded),
        // Viewers who do not answer.
        Case(
            testDescription: "one is away, and there is a place",
            holders: holders((7, nil, true), away: [3: (9, false)])),
        Case(
            testDescription: "one is away for long enough", holders: holders((8, nil, true), away: [3: (2, false)]),
            replaced: "3"),
        Case(
            testDescription: "one is away for a moment", holders: holders((8, nil, true), away: [3: (1.999, false)]),
            refusal: .full),
        Case(
            testDescription: "one is away, and its page is open",
            holders: holders((8, nil, true), away: [3: (4.999, true)]), refusal: .full),
        Case(
            testDescription: "one is away for long, and its page is open",
            holders: holders((8, nil, true), away: [3: (5, true)]), replaced: "3"),
        Case(
            testDescription: "the one away longest makes room",
            holders: holders((8, nil, true), away: [1: (3, false), 4: (60, true), 6: (59, false)]), replaced: "4"),
        Case(
            testDescription: "the place of the one away is its network's again", limit: 16,
            holders: holders((4, nil, true), (12, home, true), away: [7: (9, false)]), replaced: "7"),
        Case(
            testDescription: "a network that has its share takes no other viewer's place", limit: 16,
            holders: holders((4, nil, true), (12, home, true), away: [0: (9, false)]), refusal: .networkFull),
    ]

    @Test("A client gets a place if the share and the client's network have one left", arguments: cases)
    func check(_ row: Case) {
        let places = ViewerPlaces(limit: row.limit)
        do throws(ViewerPlaces.Refusal) {
            let replaced = try places.check(for: row.client, among: row.holders, now: Self.now)
            #expect(row.refusal == nil && replaced == row.replaced)
        } catch {
            #expect(error == row.refusal)
        }
    }
}
