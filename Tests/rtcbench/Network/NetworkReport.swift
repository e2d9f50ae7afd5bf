internal import Foundation
internal import RTCShareNetworkSimulation

/// The results of the command, for people and for programs.
struct NetworkReport: Codable {
    struct Figure: Codable {
        let name: String
        let bar: String
        let unit: String
        /// The value; nil if the run does not have it.
        let value: Double?
        let measured: String
        /// Whether it meets the requirement; nil without a requirement.
        let passes: Bool?
    }

    struct Flow: Codable {
        let name: String
        /// The received bytes on the wire and, below, the packets.
        let bytesArrived: Double
        let packetsSent: Int
        let packetsLost: Int
        let framesSent: Int
        let framesReceived: Int
        let keyFrames: Int
        let failure: String?
        /// For each second: the sent and received rates in kbit/s, and the estimate at its end.
        let sentKilobits: [Double]
        let arrivedKilobits: [Double]
        let estimateKilobits: [Double?]
        /// The longest wait in each second, in milliseconds.
        let queueingDelay: [Double]
    }

    struct Case: Codable {
        let name: String
        let title: String
        let seconds: Double
        let figures: [Figure]
        let flows: [Flow]
    }

    var cases: [Case] = []

    /// Whether all requirements are met.
    var passes: Bool { cases.allSatisfy { $0.figures.allSatisfy { $0.passes ?? true } } }

    mutating func add(_ plan: NetworkCase, _ record: NetworkRecord, isWhole: Bool) {
        cases.append(
            Case(
                name: plan.name, title: plan.title, seconds: record.seconds,
                figures: plan.bars.map { bar in
                    let value = bar.measure(record)
                    let figure = value.map { "\(bar.rounded($0)) \(bar.unit)" } ?? "not seen"
                    return Figure(
                        name: bar.name, bar: bar.requirement().trimmed, unit: bar.unit, value: value,
                        measured: figure.trimmed, passes: isWhole || value != nil ? bar.passes(value) : nil)
                }, flows: (record.shares + record.downloads).map(Flow.init)))
    }

    /// Returns a line for each measurement of a case.
    static func rows(of result: Case) -> String {
        result.figures.enumerated().map { index, figure in
            let name = index == 0 ? result.name : ""
            let verdict = figure.passes.map { $0 ? "pass" : "FAIL" } ?? ""
            return [(name, 16), (figure.name, 44), (figure.bar, 14), (figure.measured, 14), (verdict, 4)]
                .map { $0.0.padding(toLength: max($0.1, $0.0.count), withPad: " ", startingAt: 0) }
                .joined(separator: "  ")
        }.joined(separator: "\n")
    }

    static var heading: String {
        [("case", 16), ("measured", 44), ("bar", 14), ("found", 14), ("", 4)]
            .map { $0.0.padding(toLength: $0.1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}

extension NetworkReport.Flow {
    init(_ flow: NetworkRecord.Flow) {
        let perSecond = Int((1 / NetworkRecord.step).rounded())
        let seconds = stride(from: 0, to: flow.sent.count, by: perSecond).map {
            $0..<min($0 + perSecond, flow.sent.count)
        }
        func kilobits(_ bytes: [Double]) -> [Double] { seconds.map { (bytes[$0].reduce(0, +) / 125).rounded() } }
        name = flow.name
        bytesArrived = flow.arrived.reduce(0, +)
        packetsSent = flow.packetsSent
        packetsLost = flow.packetsLost
        framesSent = flow.framesSent
        framesReceived = flow.framesReceived
        keyFrames = flow.keyFrames
        failure = flow.failure
        sentKilobits = kilobits(flow.sent)
        arrivedKilobits = kilobits(flow.arrived)
        estimateKilobits = seconds.map { flow.estimate[$0].last ?? nil }
        queueingDelay = seconds.map { ((flow.longestWait[$0].max() ?? 0) * 10).rounded() / 10 }
    }
}
