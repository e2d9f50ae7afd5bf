/// Requests that choose a source, in the order of their arrival. Their sources can open in another order: of those that open,
/// the one that was requested last stays.
struct RequestOrder {
    enum Choice {
        case content, camera
    }

    private var count = 0
    /// The last request of each kind that was carried out.
    private var latest: [Choice: Int] = [:]

    /// Numbers a request, before its source opens.
    mutating func number() -> Int {
        count += 1
        return count
    }

    /// Whether a later request was carried out.
    func isOvertaken(_ number: Int, for choice: Choice) -> Bool { number < latest[choice, default: 0] }

    /// Records that a request was carried out.
    mutating func finish(_ number: Int, for choice: Choice) { latest[choice] = number }
}
