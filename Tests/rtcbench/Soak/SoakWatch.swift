internal import Foundation

/// Checks whether the viewers receive the expected video and audio: whenever the share has them as destination, is not
/// paused, and packets pass.
struct SoakWatch {
    /// Missing or unexpected media of a viewer.
    struct Failure: Codable, Hashable {
        let time: Double
        let viewer: Int?
        let text: String
    }

    private struct Viewer {
        var place: SoakPlace
        /// The time since which the share has it as destination, or does not.
        var since: Double
        var silentUntil = 0.0
        /// Whether a failure was already reported, and must not be reported again until it is over.
        var isBlind = false
        var isDeaf = false
        var seesTooMuch = false
    }

    /// The number of seconds after which a viewer must have a new frame, and audio.
    static let patience = 10.0
    /// The number of seconds in which the last sent media may still arrive.
    private static let afterglow = 5.0
    /// The number of actions that are reported with a failure.
    private static let remembered = 8

    private var viewers: [Int: Viewer] = [:]
    private var destination = SoakDestination.main
    private var hasSound = false
    private var pausedUntil = 0.0
    private var sourceSince = 0.0
    private var latest: [(time: Double, action: SoakAction)] = []

    /// Records an action.
    mutating func note(_ action: SoakAction, at now: Double) {
        latest = latest.suffix(40) + [(now, action)]
        switch action {
        case .join(let viewer, let place, _, _): viewers[viewer] = Viewer(place: place, since: now)
        case .leave(let viewer), .vanish(let viewer), .dismiss(let viewer): viewers[viewer] = nil
        case .ebb: viewers = [:]
        case .move(let viewer, let place): change(viewer, at: now) { $0.place = place }
        case .outage(let viewer, let seconds): viewers[viewer]?.silentUntil = now + seconds
        case .source(_, let hasSound):
            (self.hasSound, sourceSince, pausedUntil) = (hasSound, now, min(pausedUntil, now))
        case .pause(let seconds): pausedUntil = now + seconds
        case .destination(let new):
            let former = destination
            destination = new
            for (number, viewer) in viewers where viewer.place.includes(former) != viewer.place.includes(new) {
                viewers[number]?.since = now
            }
        case .lose, .restartICE, .requestKeyFrames, .adaptOutputFormat, .hint, .limit, .volume: break
        }
    }

    private mutating func change(_ number: Int, at now: Double, _ body: (inout Viewer) -> Void) {
        guard var viewer = viewers[number] else { return }
        let was = viewer.place.includes(destination)
        body(&viewer)
        if viewer.place.includes(destination) != was { viewer.since = now }
        viewers[number] = viewer
    }

    /// Checks the viewers' reports.
    mutating func look(_ reports: [SoakViewerReport], at now: Double) -> [Failure] {
        var failures: [Failure] = []
        for report in reports {
            guard var viewer = viewers[report.viewer] else { continue }
            if let reason = report.ended {
                viewers[report.viewer] = nil
                failures.append(failure("its session has ended: \(reason)", report, at: now))
                continue
            }
            let seen = report.sinceSeen.map { now - $0 } ?? 0
            let heard = report.sinceHeard.map { now - $0 } ?? 0
            if viewer.place.includes(destination) {
                viewer.seesTooMuch = false
                let due = max(viewer.since, viewer.silentUntil, pausedUntil, sourceSince)
                tell("no new picture", now - max(due, seen), &viewer.isBlind, report, now, &failures)
                tell("no sound", hasSound ? now - max(due, heard) : 0, &viewer.isDeaf, report, now, &failures)
            } else if seen > viewer.since + Self.afterglow, !viewer.seesTooMuch {
                viewer.seesTooMuch = true
                failures.append(failure("sees what goes elsewhere", report, at: now))
            }
            viewers[report.viewer] = viewer
        }
        return failures
    }

    private func tell(
        _ what: String, _ time: Double, _ isTold: inout Bool, _ report: SoakViewerReport, _ now: Double,
        _ failures: inout [Failure]
    ) {
        let isMissing = time > Self.patience
        if isMissing, !isTold {
            failures.append(failure("\(what) for \(String(format: "%.1f", time)) s", report, at: now))
        }
        isTold = isMissing
    }

    private func failure(_ what: String, _ report: SoakViewerReport, at now: Double) -> Failure {
        let actions = latest.filter { $0.action.viewer == nil || $0.action.viewer == report.viewer }
            .suffix(Self.remembered).map { String(format: "%.1f ", $0.time) + $0.action.text }
        return Failure(
            time: now, viewer: report.viewer,
            text: "\(what); \(report.state); before: \(actions.joined(separator: "; "))")
    }
}
