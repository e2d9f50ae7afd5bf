/// The order in which requests that choose a source arrived. Their sources can open in another order. Of the sources
/// that open, the one that was requested last is used.
struct RequestOrder {
    enum Choice {
        case content, camera
    }

    private var count = 0
    /// The latest completed request of each kind.
    private var latest: [Choice: Int] = [:]

    /// Numbers a request, before its source opens.
    mutating func number() -> Int {
        count += 1
        return count
    }

    /// Returns whether a later request was completed.
    func isOvertaken(_ number: Int, for choice: Choice) -> Bool { number < latest[choice, default: 0] }

    /// Records that a request was completed.
    mutating func finish(_ number: Int, for choice: Choice) { latest[choice] = number }
}
