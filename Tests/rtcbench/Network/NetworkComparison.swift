internal import RTCShareCongestionControl

/// Runs of the same cases and seeds with all deviations of the congestion control from libwebrtc, and without each of
/// them.
struct NetworkComparison {
    /// A variant of the congestion control.
    struct Variant {
        let name: String
        let deviations: Deviations
    }

    /// All results of one case.
    struct Case {
        let plan: NetworkCase
        /// The values by variant, by measurement, and by seed; nil if a run does not have it.
        var figures: [[[Double?]]]
    }

    /// The variants; the first is the reference.
    let variants: [Variant]
    let seeds: [UInt64]
    private(set) var cases: [Case] = []

    /// Compares the enabled `deviations` with each set that lacks one of them.
    init(_ deviations: Deviations, seeds: [UInt64]) {
        self.seeds = seeds
        variants =
            [Variant(name: "(as it is)", deviations: deviations)]
            + Deviations.named.filter { deviations.contains($0.value) }.map {
                Variant(name: $0.key, deviations: deviations.subtracting($0.value))
            } + [Variant(name: "all", deviations: [])]
    }

    /// Runs a case with all variants.
    mutating func run(_ plan: NetworkCase, seconds: Double?) throws {
        let figures = try variants.map { variant in
            let records = try seeds.map { seed in
                var run = NetworkRun(plan, seed: seed, seconds: seconds, deviations: variant.deviations)
                return try run.run()
            }
            return plan.bars.map { bar in records.map(bar.measure) }
        }
        cases.append(Case(plan: plan, figures: figures))
    }

    /// Returns the means of a case, a row for each variant, with a star at significant differences.
    static func table(_ result: Case, _ variants: [Variant]) -> String {
        let bars = result.plan.bars
        let rows = variants.indices.map { variant in
            [variants[variant].name]
                + bars.indices.map { bar in
                    let text = result.mean(variant, bar).map { "\(bars[bar].rounded($0))" } ?? "–"
                    return text + (result.isVisiblyOther(variant, bar) ? "*" : " ")
                }
        }
        let titles = ["without"] + bars.indices.map { "\($0 + 1) " }
        let legend = bars.indices.map {
            "\($0 + 1): \(bars[$0].name)\(bars[$0].unit.isEmpty ? "" : ", \(bars[$0].unit)")"
        }
        return "\(result.plan.name): \(result.plan.title)\n\(legend.joined(separator: "; "))\n"
            + Table(titles: titles, rows: rows, leading: 1).description
    }

    /// A line for each measurement with a significant difference without one of the deviations.
    var summary: String {
        variants.indices.dropFirst().map { variant in
            let lines = cases.flatMap { result in
                result.plan.bars.indices.filter { result.isVisiblyOther(variant, $0) }.map { index in
                    let bar = result.plan.bars[index]
                    let values = [0, variant].map { result.mean($0, index).map(bar.rounded) ?? "–" }
                    return "  \(result.plan.name): \(bar.name) \(values[0]) → \(values[1]) \(bar.unit)"
                }
            }
            return ([variants[variant].name] + (lines.isEmpty ? ["  nothing"] : lines)).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

extension NetworkComparison.Case {
    func mean(_ variant: Int, _ bar: Int) -> Double? {
        let values = figures[variant][bar].compactMap { $0 }
        return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// Returns whether a value differs from the first variant's by more than a twentieth, by more than its last digits,
    /// and by more than twice the standard error of the seeds' differences; or exists in only one of them.
    func isVisiblyOther(_ variant: Int, _ bar: Int) -> Bool {
        guard variant > 0 else { return false }
        guard let before = mean(0, bar), let after = mean(variant, bar) else {
            return (mean(0, bar) == nil) != (mean(variant, bar) == nil)
        }
        let difference = abs(after - before)
        guard difference > max(abs(before), abs(after)) / 20, difference > plan.bars[bar].lastDigits else {
            return false
        }
        let differences = zip(figures[0][bar], figures[variant][bar]).compactMap { one, other in
            one.flatMap { one in other.map { $0 - one } }
        }
        guard differences.count > 1 else { return true }
        let middle = differences.reduce(0, +) / Double(differences.count)
        let squares = differences.reduce(0) { $0 + ($1 - middle) * ($1 - middle) }
        let standardError = (squares / Double(differences.count - 1) / Double(differences.count)).squareRoot()
        return difference > 2 * standardError
    }
}
