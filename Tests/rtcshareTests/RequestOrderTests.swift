import Testing

@testable import rtcshare

@Suite("Requests that choose a source")
struct RequestOrderTests {
    /// The order in which the sources of three requests open.
    static let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]

    @Test(
        "Of the sources that open, the one that was requested last stays, in whichever order they open",
        arguments: orders, [nil, 1, 2, 3])
    func lastRequestWins(order: [Int], failing: Int?) {
        var requests = RequestOrder()
        let numbers = (1...3).map { _ in requests.number() }
        var chosen: Int?
        var overtaken: [Int] = []
        for request in order where request != failing {
            let number = numbers[request - 1]
            if requests.isOvertaken(number, for: .content) {
                overtaken.append(request)
            } else {
                requests.finish(number, for: .content)
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
        var requests = RequestOrder()
        let (first, second) = (requests.number(), requests.number())
        #expect(!requests.isOvertaken(second, for: .content))
        #expect(!requests.isOvertaken(first, for: .content))
        requests.finish(first, for: .content)
        #expect(!requests.isOvertaken(second, for: .content))
    }

    @Test("A camera does not overtake a screen")
    func choices() {
        var requests = RequestOrder()
        let (screen, camera) = (requests.number(), requests.number())
        requests.finish(camera, for: .camera)
        #expect(!requests.isOvertaken(screen, for: .content))
        requests.finish(screen, for: .content)
        #expect(!requests.isOvertaken(requests.number(), for: .camera))
    }
}
