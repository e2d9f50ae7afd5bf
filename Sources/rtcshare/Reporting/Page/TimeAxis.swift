internal import FoundationEssentials

/// The time range of a page, from its start on.
struct TimeAxis {
    /// The start in seconds since 1970.
    let start: Double
    /// The length in seconds, never 0.
    let length: Double

    private static let steps: [Double] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]
    /// The maximum number of labels, for which a phone has room.
    private static let mostTicks = 6.0

    init(from: Double, to: Double) {
        start = from
        length = max(to - from, 1)
    }

    /// Returns the position of a time, from 0 to 1.
    func share(_ time: Double) -> Double { min(max((time - start) / length, 0), 1) }

    /// The times of labels, in seconds from the start.
    var ticks: [Double] {
        let least = length / Self.mostTicks
        let step = Self.steps.first { $0 >= least } ?? (least / 86_400).rounded(.up) * 86_400
        return Array(stride(from: 0, through: length, by: step))
    }

    /// Returns a label such as `01:23`, or `1:02:03` in a page of an hour or more.
    func label(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.down))
        return length < 3600 ? String(printing: "%02d:%02d", whole / 60, whole % 60) : seconds.clock
    }

    /// Returns the label of a time with a tenth of a second; a time before the page's start has the label of that.
    func preciseLabel(_ time: Double) -> String {
        let tenths = (max(time - start, 0) * 10).rounded()
        return label(tenths / 10) + String(printing: ".%d", Int(tenths) % 10)
    }
}
