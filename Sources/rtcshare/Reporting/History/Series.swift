/// A measure over time.
struct Series {
    /// Seconds since 1970, ascending.
    private(set) var times: [Double] = []
    private(set) var values: [Double] = []

    var isEmpty: Bool { values.isEmpty }
    var largest: Double? { values.max() }
    var mean: Double? { values.isEmpty ? nil : values.reduce(0, +) / Double(values.count) }

    var median: Double? {
        guard !values.isEmpty else { return nil }
        return values.sorted()[values.count / 2]
    }

    /// Adds a value, unless it is absent or no number.
    mutating func append(_ value: Double?, at time: Double) {
        guard let value, value.isFinite, time > times.last ?? -.infinity else { return }
        times.append(time)
        values.append(value)
    }

    /// What was measured within a time, its ends included.
    func values(from: Double, to: Double) -> ArraySlice<Double> {
        let first = index(after: from, orAt: true)
        let end = index(after: to, orAt: false)
        return first < end ? values[first..<end] : []
    }

    /// The newest that was measured by then.
    func value(at time: Double) -> Double? {
        let index = index(after: time, orAt: false)
        return index > 0 ? values[index - 1] : nil
    }

    /// The first index whose time is after this one, or at it too.
    private func index(after time: Double, orAt: Bool) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time || !orAt && times[middle] == time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Stretches of time for which a condition holds; those with no more than `pause` seconds between them are one.
    func stretches(pause: Double, where condition: (Double, Double) -> Bool) -> [Stretch] {
        var found: [Stretch] = []
        for (time, value) in zip(times, values) where condition(time, value) {
            if let last = found.last, time - last.to <= pause {
                found[found.count - 1].to = time
                found[found.count - 1].count += 1
                found[found.count - 1].largest = max(last.largest, value)
                found[found.count - 1].smallest = min(last.smallest, value)
            } else {
                found.append(Stretch(from: time, to: time, count: 1, smallest: value, largest: value))
            }
        }
        return found
    }

    /// A time within a series.
    struct Stretch {
        let from: Double
        fileprivate(set) var to: Double
        fileprivate(set) var count: Int
        fileprivate(set) var smallest: Double
        fileprivate(set) var largest: Double
    }

    /// No more than so many of the points: of each part of the time the smallest and the largest.
    func thinned(to limit: Int) -> Series {
        guard values.count > limit, limit >= 2, let first = times.first, let last = times.last, last > first else {
            return self
        }
        var thin = Series()
        let width = (last - first) / Double(limit / 2)
        var begin = 0
        while begin < values.count {
            let end = times[begin] + width
            var (low, high, index) = (begin, begin, begin)
            while index < values.count, times[index] < end {
                if values[index] < values[low] { low = index }
                if values[index] > values[high] { high = index }
                index += 1
            }
            for kept in Set([low, high]).sorted() { thin.append(values[kept], at: times[kept]) }
            begin = max(index, begin + 1)
        }
        return thin
    }
}

/// A name over time: each holds until the next.
struct Steps {
    private(set) var times: [Double] = []
    private(set) var names: [String] = []

    var isEmpty: Bool { names.isEmpty }

    /// Takes note of what holds now; nil is what is unknown, and changes nothing.
    mutating func append(_ name: String?, at time: Double) {
        guard let name, name != names.last, time > times.last ?? -.infinity else { return }
        times.append(time)
        names.append(name)
    }

    /// What holds at a time.
    func name(at time: Double) -> String? {
        let next = firstIndex(after: time)
        return next > 0 ? names[next - 1] : nil
    }

    /// All that hold at some time within.
    func names(from: Double, to: Double) -> Set<String> {
        let (first, end) = (firstIndex(after: from), firstIndex(after: to))
        return Set(names[min(max(first - 1, 0), end)..<end])
    }

    /// Whether another one holds from some time within, its ends included.
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

    /// The changes: when, from what, to what.
    var changes: [(time: Double, from: String, to: String)] {
        names.indices.dropFirst().map { (times[$0], names[$0 - 1], names[$0]) }
    }

    /// What held from when to when, the last until `end`.
    func spans(until end: Double) -> [(from: Double, to: Double, name: String)] {
        names.indices.map { (times[$0], $0 + 1 < times.count ? times[$0 + 1] : max(end, times[$0]), names[$0]) }
    }
}

/// A stretch of time, in seconds since 1970.
struct TimeSpan: Equatable {
    let from: Double
    let to: Double
}

extension [TimeSpan] {
    /// The first of these, which follow one another, that touches a time.
    func first(from: Double, to: Double) -> TimeSpan? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].to < from { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].from <= to ? self[low] : nil
    }
}

/// The newest of what was seen.
struct Recent<Element: Hashable & Sendable> {
    private(set) var members: Set<Element> = []
    private var order: [Element] = []

    private static var mostMembers: Int { 64 }

    /// Takes note of an element; returns what is forgotten for it.
    mutating func insert(_ element: Element) -> Element? {
        guard members.insert(element).inserted else { return nil }
        order.append(element)
        guard order.count > Self.mostMembers else { return nil }
        let oldest = order.removeFirst()
        members.remove(oldest)
        return oldest
    }
}
