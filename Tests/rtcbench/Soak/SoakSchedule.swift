internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// What happens in a soak and when: the same for the same seed and length.
///
/// It keeps to rules of its own: from three to six viewers, of whom one at least is where the share goes; everybody leaves
/// at the beginning, once the first viewer was there, every few minutes, and at the end.
struct SoakSchedule {
    /// An action at its time, in seconds from the start. Time stands still while everybody leaves.
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
    /// What is still to come before chance decides.
    private var first: [Step]
    private var hasEnded = false

    static let viewers = 3...6
    /// The time from one action to the next, in the mean.
    private static let interval = 1.6
    private static let leastInterval = 0.25
    /// At the beginning one viewer comes and leaves, so that what is made once is there.
    private static let opening = 8.0
    /// From one leaving of everybody to the next.
    private static let ebbInterval = 180.0
    /// Who vanishes is noticed after 30 seconds (RFC 7675 §5.1): nobody does shortly before everybody leaves.
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

    /// All of it.
    static func steps(seed: UInt64, duration: Double) -> [Step] {
        var schedule = SoakSchedule(seed: seed, duration: duration)
        return Array(sequence(state: ()) { _ in schedule.next() })
    }

    /// The next action; nil after the last, which is that everybody leaves.
    mutating func next() -> Step? {
        if !first.isEmpty { return first.removeFirst() }
        guard !hasEnded else { return nil }
        // A room that is empty fills faster.
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
        // A room that nobody of the destination is in would show nothing to anybody.
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
