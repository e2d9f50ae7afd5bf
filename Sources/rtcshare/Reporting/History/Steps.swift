/// A name over time: each is valid until the next.
struct Steps {
    private(set) var times: [Double] = []
    private(set) var names: [String] = []

    var isEmpty: Bool { names.isEmpty }

    /// Adds the current name; nil means unknown, and changes nothing.
    mutating func append(_ name: String?, at time: Double) {
        guard let name, name != names.last, time > times.last ?? -.infinity else { return }
        times.append(time)
        names.append(name)
    }

    /// Returns the name at a time.
    func name(at time: Double) -> String? {
        let next = firstIndex(after: time)
        return next > 0 ? names[next - 1] : nil
    }

    /// Returns all names that are valid at any time within.
    func names(from: Double, to: Double) -> Set<String> {
        let (first, end) = (firstIndex(after: from), firstIndex(after: to))
        return Set(names[min(max(first - 1, 0), end)..<end])
    }

    /// Returns whether the name changes within a time, including its ends.
    func changes(from: Double, to: Double) -> Bool {
        let end = firstIndex(after: to)
        return end > 1 && times[end - 1] >= from
    }

    private func firstIndex(after time: Double) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The changes: time, previous and new name.
    var changes: [(time: Double, from: String, to: String)] {
        names.indices.dropFirst().map { (times[$0], names[$0 - 1], names[$0]) }
    }

    /// Returns the names with their start and end, the last one until `end`.
    func spans(until end: Double) -> [(from: Double, to: Double, name: String)] {
        names.indices.map { (times[$0], $0 + 1 < times.count ? times[$0 + 1] : max(end, times[$0]), names[$0]) }
    }
}
