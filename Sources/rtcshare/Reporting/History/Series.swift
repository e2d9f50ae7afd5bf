/// A measurement over time.
struct Series {
    /// The times in seconds since 1970, ascending.
    private(set) var times: [Double] = []
    private(set) var values: [Double] = []

    var isEmpty: Bool { values.isEmpty }
    var largest: Double? { values.max() }
    var mean: Double? { values.isEmpty ? nil : values.reduce(0, +) / Double(values.count) }

    var median: Double? {
        guard !values.isEmpty else { return nil }
        return values.sorted()[values.count / 2]
    }

    /// Adds a value, unless it is missing or not finite.
    mutating func append(_ value: Double?, at time: Double) {
        guard let value, value.isFinite, time > times.last ?? -.infinity else { return }
        times.append(time)
        values.append(value)
    }

    /// Returns the values within a time, including its ends.
    func values(from: Double, to: Double) -> ArraySlice<Double> {
        let first = index(after: from, orAt: true)
        let end = index(after: to, orAt: false)
        return first < end ? values[first..<end] : []
    }

    /// Returns the newest value at a time.
    func value(at time: Double) -> Double? {
        let index = index(after: time, orAt: false)
        return index > 0 ? values[index - 1] : nil
    }

    /// Returns the first index whose time is after this one or, with `orAt`, equal to it.
    private func index(after time: Double, orAt: Bool) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time || !orAt && times[middle] == time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the stretches of time in which a condition holds; those with at most `pause` seconds between them are
    /// one.
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

    /// A stretch of time in a series.
    struct Stretch {
        let from: Double
        fileprivate(set) var to: Double
        fileprivate(set) var count: Int
        fileprivate(set) var smallest: Double
        fileprivate(set) var largest: Double
    }

    /// Returns at most so many of the points: the minimum and the maximum of each part of the time.
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

/// A stretch of time, in seconds since 1970.
struct TimeSpan: Equatable {
    let from: Double
    let to: Double
}

extension [TimeSpan] {
    /// Returns the first of these ordered spans that touches a time.
    func first(from: Double, to: Double) -> TimeSpan? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].to < from { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].from <= to ? self[low] : nil
    }
}

/// The newest elements of a set.
struct Recent<Element: Hashable & Sendable> {
    private(set) var members: Set<Element> = []
    private var order: [Element] = []

    private static var mostMembers: Int { 64 }

    /// Adds an element; returns the one that is removed for it.
    mutating func insert(_ element: Element) -> Element? {
        guard members.insert(element).inserted else { return nil }
        order.append(element)
        guard order.count > Self.mostMembers else { return nil }
        let oldest = order.removeFirst()
        members.remove(oldest)
        return oldest
    }
}
