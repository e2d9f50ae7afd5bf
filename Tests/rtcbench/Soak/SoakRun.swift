internal import Foundation
internal import RTCShareWireFormat

/// Executes the actions of a schedule at their times, and checks the viewers in between.
final class SoakRun {
    private(set) var record = SoakRecord()
    private let share: SoakShare
    private let audience: SoakAudience
    private var schedule: SoakSchedule
    private var watch = SoakWatch()
    private let start = MonotonicTime.now
    private let processorStart = ProcessorTime.now
    /// The time for which the schedule was paused.
    private var stoodStill = 0.0
    private var resumption: Double?
    private var nextLook = 0.0
    private var nextSample = 0.0
    /// Called with every event.
    private let listener: (Event) throws -> Void

    enum Event {
        case action(SoakAction, time: Double)
        case sample(SoakSample)
        case ebb(SoakEbb)
        case failure(SoakWatch.Failure)
    }

    private static let lookInterval = 1.0
    private static let sampleInterval = 5.0
    /// The timeout for the end of all connections after all viewers have left: vanished ones are detected after 30
    /// seconds.
    private static let ebbPatience = 60.0
    /// The time in which threads end and memory is released.
    private static let settling = 2.0

    init(seed: UInt64, duration: Double, listener: @escaping (Event) throws -> Void) async throws {
        self.listener = listener
        schedule = SoakSchedule(seed: seed, duration: duration)
        audience = try SoakAudience(seed: seed)
        share = try await SoakShare(audience: audience)
    }

    private var now: Double { (MonotonicTime.now - start).seconds }

    /// Follows the schedule to its end. An early end is a failure in the record.
    func run() async throws {
        do {
            try await follow()
        } catch {
            try fail("the soak has ended before its time: \(error)", viewer: nil)
        }
        await share.end()
        audience.end()
    }

    private func follow() async throws {
        while let step = schedule.next() {
            try await wait(until: step.time + stoodStill)
            try listener(.action(step.action, time: now))
            record.actions[step.action.name, default: 0] += 1
            let begin = now
            do {
                try await share.apply(step.action)
            } catch {
                try fail("\(step.action.text): \(error)", viewer: step.action.viewer)
            }
            watch.note(step.action, at: now)
            if step.action == .ebb { watch.note(SoakShare.reference, at: now) }
            switch step.action {
            case .pause(let seconds): resumption = now + seconds
            case .source: resumption = nil
            case .ebb:
                try await ebb()
                stoodStill += now - begin
            default: break
            }
        }
    }

    private func wait(until time: Double) async throws {
        while true {
            let due = [time, nextLook, nextSample, resumption ?? time].min() ?? time
            if due > now { try await Task.sleep(for: .seconds(due - now)) }
            if let resumption, now >= resumption {
                self.resumption = nil
                await share.setPaused(false)
            }
            if now >= nextLook {
                try await look()
                nextLook = now + Self.lookInterval
            }
            if now >= nextSample {
                try await sample()
                nextSample = now + Self.sampleInterval
            }
            if now >= time { return }
        }
    }

    private func look() async throws {
        for failure in watch.look(try await audience.report().viewers, at: now) { try note(failure) }
        for failure in await share.takeFailures() { try fail(failure, viewer: nil) }
    }

    private func sample() async throws {
        let viewing = try await audience.report()
        let sample = SoakSample(
            time: now, connections: await share.connections, ownPorts: share.ownPorts, viewers: viewing.viewers.count,
            paths: viewing.paths, sharing: await ProcessCensus.take(), viewing: viewing.census,
            framesSent: await share.framesSent(), picturesSeen: viewing.picturesSeen,
            processorTime: Double((ProcessorTime.now - processorStart).total) / 1e9)
        record.samples.append(sample)
        try listener(.sample(sample))
    }

    /// Waits until all viewers are gone, and searches leaks: nothing may be left in addition to the first time.
    private func ebb() async throws {
        let begin = now
        var ebb: SoakEbb
        repeat {
            try await Task.sleep(for: .seconds(Self.settling))
            try await look()
            ebb = SoakEbb(
                time: now, sharing: await ProcessCensus.take(), viewing: try await audience.report().census,
                leftBehind: share.leftBehind())
        } while isLeftover(ebb) && now - begin < Self.ebbPatience
        if isLeftover(ebb) {
            let first = record.ebbs.first ?? ebb
            try fail(
                "left behind when everybody had left: \(ebb.leftBehind) connections or sessions, "
                    + "\(ebb.sharing.timers) timers, \(ebb.sharing.descriptors) descriptors where there were "
                    + "\(first.sharing.descriptors) at first", viewer: nil)
        }
        record.ebbs.append(ebb)
        try listener(.ebb(ebb))
    }

    private func isLeftover(_ ebb: SoakEbb) -> Bool {
        ebb.leftBehind > 0 || ebb.sharing.timers > 0
            || ebb.sharing.descriptors > record.ebbs.first?.sharing.descriptors ?? .max
    }

    private func fail(_ text: String, viewer: Int?) throws {
        try note(SoakWatch.Failure(time: now, viewer: viewer, text: text))
    }

    private func note(_ failure: SoakWatch.Failure) throws {
        record.failures.append(failure)
        try listener(.failure(failure))
    }
}
