/// Requests that choose a source, in the order of their arrival. Their sources can open in another order: of those that open,
/// the one that was requested last stays.
struct Turns {
    enum Choice {
        case content, camera
    }

    private var asked = 0
    private var done: [Choice: Int] = [:]

    /// Numbers a request, before its source opens.
    mutating func ask() -> Int {
        asked += 1
        return asked
    }

    /// Whether a later request was carried out.
    func isOvertaken(_ number: Int, for choice: Choice) -> Bool { number < done[choice, default: 0] }

    /// Records that a request was carried out.
    mutating func finish(_ number: Int, for choice: Choice) { done[choice] = number }
}
