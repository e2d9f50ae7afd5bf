/// The newest counts of a stream, whose differences are the rates.
struct StreamCounts {
    private var values: [String: Double] = [:]
    private var time: Double?
    private var source: Int?
    private var resets = 0
    private var isReset = false

    /// Returns the seconds since the report before, infinite before the first; nil if they are below `shortest`.
    func interval(to now: Double, shortest: Double) -> Double? {
        guard let time else { return .infinity }
        return now - time >= shortest ? now - time : nil
    }

    /// Advances to the next report. A stream with another source starts its counts again.
    mutating func advance(to now: Double, source: Int?) {
        time = now
        isReset = false
        if let source, let before = self.source, source != before {
            values = [:]
            resets += 1
        }
        self.source = source ?? self.source
    }

    /// Returns the growth of a count since the report before; nil if it was unknown, or was reset.
    mutating func growth(_ name: String, to value: Double?) -> Double? {
        guard let value else { return nil }
        defer { values[name] = value }
        guard let before = values[name] else { return nil }
        guard value >= before else {
            if !isReset { resets += 1 }
            isReset = true
            return nil
        }
        return value - before
    }

    /// Returns the growth of the lost packets, which late ones reduce (RFC 3550 §6.4.1).
    mutating func lossGrowth(_ name: String, to value: Double?) -> Double? {
        guard let value else { return nil }
        defer { values[name] = value }
        return values[name].map { max(0, value - $0) }
    }

    /// Returns the number of resets since the last call.
    mutating func takeResets() -> Int {
        defer { resets = 0 }
        return resets
    }
}
