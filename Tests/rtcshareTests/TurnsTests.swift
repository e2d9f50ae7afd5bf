import Testing

@testable import rtcshare

@Suite("Requests that choose a source")
struct TurnsTests {
    /// The order in which the sources of three requests open.
    static let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]

    @Test(
        "Of the sources that open, the one that was requested last stays, in whichever order they open",
        arguments: orders, [nil, 1, 2, 3])
    func lastRequestWins(order: [Int], failing: Int?) {
        var turns = Turns()
        let numbers = (1...3).map { _ in turns.ask() }
        var chosen: Int?
        var overtaken: [Int] = []
        for request in order where request != failing {
            let number = numbers[request - 1]
            if turns.isOvertaken(number, for: .content) {
                overtaken.append(request)
            } else {
                turns.finish(number, for: .content)
                chosen = request
            }
        }
        let opened = order.filter { $0 != failing }
        #expect(chosen == opened.max())
        let late = opened.enumerated().filter { index, request in opened[..<index].contains { $0 > request } }
        #expect(overtaken == late.map(\.element))
    }

    @Test("A request whose source can't be shown leaves the turn of earlier requests")
    func rejection() {
        var turns = Turns()
        let (first, second) = (turns.ask(), turns.ask())
        #expect(!turns.isOvertaken(second, for: .content))
        #expect(!turns.isOvertaken(first, for: .content))
        turns.finish(first, for: .content)
        #expect(!turns.isOvertaken(second, for: .content))
    }

    @Test("A camera does not overtake a screen")
    func choices() {
        var turns = Turns()
        let (screen, camera) = (turns.ask(), turns.ask())
        turns.finish(camera, for: .camera)
        #expect(!turns.isOvertaken(screen, for: .content))
        turns.finish(screen, for: .content)
        #expect(!turns.isOvertaken(turns.ask(), for: .camera))
    }
}
