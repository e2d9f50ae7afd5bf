internal import Foundation

/// An action in a soak test. Viewers have numbers, each of which is used once.
enum SoakAction: Codable, Hashable {
    /// A viewer joins, at the viewers' shared port or at one of its own, over a link that loses this fraction of
    /// packets.
    case join(viewer: Int, place: SoakPlace, sharesPort: Bool, loss: Double)
    /// A viewer says goodbye.
    case leave(viewer: Int)
    /// A viewer ignores everything and sends nothing, like an unplugged machine.
    case vanish(viewer: Int)
    /// The sharing side says goodbye to a viewer.
    case dismiss(viewer: Int)
    case move(viewer: Int, place: SoakPlace)
    case lose(viewer: Int, share: Double)
    /// No packet passes to or from a viewer for so many seconds.
    case outage(viewer: Int, seconds: Double)
    /// The sharing side offers new credentials, or rolls the offer back.
    case restartICE(viewer: Int, isTakenBack: Bool)
    case requestKeyFrames(viewer: Int, count: Int)
    case source(SoakContent, hasSound: Bool)
    case adaptOutputFormat(width: Int, height: Int, framesPerSecond: Double)
    case hint(String?)
    case limit(kilobitsPerSecond: Int, framesPerSecond: Double)
    case volume(Double)
    case pause(seconds: Double)
    case destination(SoakDestination)
    /// All viewers leave, and leaks are searched.
    case ebb
}

/// The shared content.
enum SoakContent: Codable, Hashable {
    /// The test pattern.
    case pattern(width: Int, height: Int, framesPerSecond: Double)
    /// Frames of a screen, created before.
    case screen(ScreenContent)
}

/// The groups of a viewer.
enum SoakPlace: String, Codable, CaseIterable {
    case main
    case both
    case group

    func includes(_ destination: SoakDestination) -> Bool {
        self == .both || self == (destination == .main ? .main : .group)
    }
}

/// The destination of the share.
enum SoakDestination: String, Codable {
    case main
    case group
}

extension SoakAction {
    /// The viewer of the action.
    var viewer: Int? {
        switch self {
        case .join(let viewer, _, _, _), .leave(let viewer), .vanish(let viewer), .dismiss(let viewer),
            .move(let viewer, _), .lose(let viewer, _), .outage(let viewer, _), .restartICE(let viewer, _),
            .requestKeyFrames(let viewer, _):
            viewer
        case .source, .adaptOutputFormat, .hint, .limit, .volume, .pause, .destination, .ebb: nil
        }
    }

    /// The name of the action.
    var name: String {
        let text = "\(self)"
        return String(text[..<(text.firstIndex(of: "(") ?? text.endIndex)])
    }

    /// The action as JSON.
    var text: String { (try? line).map { String(decoding: $0.dropLast(), as: UTF8.self) } ?? name }
}
