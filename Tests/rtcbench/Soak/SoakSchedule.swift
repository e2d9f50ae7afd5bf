internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// The actions of a soak test with their times: the same for the same seed and length.
///
/// It follows these rules: there are three to six viewers, at least one of whom is in the destination of the share; all
/// viewers leave at the beginning, after the first one has joined, every few minutes, and at the end.
struct SoakSchedule {
    /// An action with its time, in seconds from the start. Time is paused while all viewers leave.
    struct Step: Codable, Hashable {
        let time: Double
        let action: SoakAction
    }

    private var random: SeededGenerator
    private let duration: Double
    private var time = 0.0
    private var nextEbb: Double
    private var nextViewer = 2
    private var places: [Int: SoakPlace] = [:]
    private var destination = SoakDestination.main
    /// The fixed steps before the random ones.
    private var first: [Step]
    private var hasEnded = false

    static let viewers = 3...6
    /// The mean time between actions.
    private static let interval = 1.6
    private static let leastInterval = 0.25
    /// The time at the beginning in which one viewer joins and leaves, so that one-time resources exist.
    private static let opening = 8.0
    /// The time between two departures of all viewers.
    private static let ebbInterval = 180.0
    /// A vanished viewer is detected after 30 seconds (RFC 7675 §5.1): none vanishes shortly before all viewers leave.
    private static let vanishingPause = 36.0

    private static let sizes = [(640, 360), (480, 270), (320, 240), (640, 480), (360, 640), (800, 450)]
    private static let screens: [ScreenContent] = [.typing, .scrolling, .motion]
    private static let hints: [ContentHint?] = [nil, ContentHint.none, .motion, .detail, .text]

    init(seed: UInt64, duration: Double) {
        self.duration = duration
        random = SeededGenerator(seed: seed)
        nextEbb = min(Self.ebbInterval, duration)
        let opening = min(Self.opening, duration / 4)
        first = [
            Step(time: 0, action: SoakShare.reference),
            Step(time: 0, action: .join(viewer: 1, place: .both, sharesPort: true, loss: 0)),
            Step(time: opening, action: .ebb),
        ]
        time = opening
    }

    /// Returns all steps.
    static func steps(seed: UInt64, duration: Double) -> [Step] {
        var schedule = SoakSchedule(seed: seed, duration: duration)
        return Array(sequence(state: ()) { _ in schedule.next() })
    }

    /// Returns the next action; nil after the last, in which all viewers leave.
    mutating func next() -> Step? {
        if !first.isEmpty { return first.removeFirst() }
        guard !hasEnded else { return nil }
        // An empty room fills faster.
        let mean = places.count < Self.viewers.lowerBound ? Self.interval / 4 : Self.interval
        time += Self.leastInterval + random.exponential(mean: mean - Self.leastInterval)
        guard time < nextEbb else {
            time = nextEbb
            hasEnded = time >= duration
            // No short rest before the end.
            let following = nextEbb + Self.ebbInterval
            nextEbb = following > duration - Self.ebbInterval / 2 ? duration : following
            places = [:]
            return Step(time: time, action: .ebb)
        }
        return Step(time: time, action: action())
    }

    private mutating func action() -> SoakAction {
        if places.count < Self.viewers.lowerBound { return join() }
        // A share to a part of the room without viewers would show nothing.
        if !places.values.contains(where: { $0.includes(destination) }) {
            destination = destination == .main ? .group : .main
            return .destination(destination)
        }
        let viewer = places.keys.sorted()[Int(random.next() % UInt64(places.count))]
        let canGo = places.count > Self.viewers.lowerBound
        let canVanish = canGo && time < nextEbb - Self.vanishingPause
        switch random.next() % 100 {
        case 0..<12: return places.count < Self.viewers.upperBound ? join() : leave(viewer)
        case 12..<18: return canGo ? leave(viewer) : lose(viewer)
        case 18..<23:
            guard canVanish else { return lose(viewer) }
            places[viewer] = nil
            return .vanish(viewer: viewer)
        case 23..<26:
            guard canGo else { return lose(viewer) }
            places[viewer] = nil
            return .dismiss(viewer: viewer)
        case 26..<36: return lose(viewer)
        case 36..<40: return .outage(viewer: viewer, seconds: rounded(2 + 6 * random.fraction()))
        case 40..<48: return .restartICE(viewer: viewer, isTakenBack: random.chance(0.2))
        case 48..<57: return .requestKeyFrames(viewer: viewer, count: 1 + Int(random.next() % 5))
        case 57..<65: return source()
        case 65..<73:
            let size = Self.sizes[Int(random.next() % UInt64(Self.sizes.count))]
            let rate = random.chance(0.5) ? 0 : Double(5 + random.next() % 11)
            return .adaptOutputFormat(width: size.0, height: size.1, framesPerSecond: rate)
        case 73..<79: return .hint(Self.hints[Int(random.next() % UInt64(Self.hints.count))]?.rawValue)
        case 79..<87:
            return .limit(
                kilobitsPerSecond: 100 + 50 * Int(random.next() % 25), framesPerSecond: Double(5 + random.next() % 11))
        case 87..<89: return .volume(rounded(0.2 + random.fraction()))
        case 89..<92: return .pause(seconds: rounded(3 + 5 * random.fraction()))
        case 92..<96:
            let place = SoakPlace.allCases[Int(random.next() % 3)]
            places[viewer] = place
            return .move(viewer: viewer, place: place)
        default:
            destination = destination == .main ? .group : .main
            return .destination(destination)
        }
    }

    private mutating func join() -> SoakAction {
        let viewer = nextViewer
        nextViewer += 1
        let place: SoakPlace = random.chance(0.6) ? .both : random.chance(0.5) ? .main : .group
        places[viewer] = place
        return .join(
            viewer: viewer, place: place, sharesPort: random.chance(0.5),
            loss: random.chance(0.5) ? 0 : rounded(0.1 * random.fraction()))
    }

    private mutating func leave(_ viewer: Int) -> SoakAction {
        places[viewer] = nil
        return .leave(viewer: viewer)
    }

    private mutating func lose(_ viewer: Int) -> SoakAction {
        .lose(viewer: viewer, share: random.chance(0.4) ? 0 : rounded(0.12 * random.fraction()))
    }

    private mutating func source() -> SoakAction {
        let hasSound = random.chance(0.85)
        if random.chance(0.4) {
            return .source(.screen(Self.screens[Int(random.next() % UInt64(Self.screens.count))]), hasSound: hasSound)
        }
        let size = Self.sizes[Int(random.next() % UInt64(Self.sizes.count))]
        return .source(
            .pattern(width: size.0, height: size.1, framesPerSecond: Double(8 + random.next() % 8)), hasSound: hasSound)
    }

    private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
