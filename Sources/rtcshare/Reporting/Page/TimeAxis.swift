internal import FoundationEssentials

/// The time that a page shows, from its beginning on.
struct TimeAxis {
    /// Seconds since 1970.
    let start: Double
    /// In seconds, never 0.
    let length: Double

    private static let steps: [Double] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]
    /// As many labels as a telephone has room for.
    private static let mostTicks = 6.0

    init(from: Double, to: Double) {
        start = from
        length = max(to - from, 1)
    }

    /// Where a time stands, from 0 to 1.
    func share(_ time: Double) -> Double { min(max((time - start) / length, 0), 1) }

    /// Times to be labelled, in seconds from the start.
    var ticks: [Double] {
        let least = length / Self.mostTicks
        let step = Self.steps.first { $0 >= least } ?? (least / 86_400).rounded(.up) * 86_400
        return Array(stride(from: 0, through: length, by: step))
    }

    /// `01:23`, or `1:02:03` in a page of an hour or more.
    func label(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.down))
        return length < 3600 ? String(printing: "%02d:%02d", whole / 60, whole % 60) : seconds.clock
    }

    /// The same of a time, with a tenth of a second; what began before the page did, begins with it.
    func preciseLabel(_ time: Double) -> String {
        let tenths = (max(time - start, 0) * 10).rounded()
        return label(tenths / 10) + String(printing: ".%d", Int(tenths) % 10)
    }
}
