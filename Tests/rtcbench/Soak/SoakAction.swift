internal import Foundation

/// One thing that happens to a soaked share. Viewers have numbers, each of which is used once.
enum SoakAction: Codable, Hashable {
    /// A viewer comes, at the port that the viewers share or at one of its own, over a path that loses this share of
    /// packets.
    case join(viewer: Int, place: SoakPlace, sharesPort: Bool, loss: Double)
    /// A viewer says goodbye.
    case leave(viewer: Int)
    /// A viewer hears and says nothing any more, as a machine that was unplugged.
    case vanish(viewer: Int)
    /// The sharing side says goodbye to a viewer.
    case dismiss(viewer: Int)
    case move(viewer: Int, place: SoakPlace)
    case lose(viewer: Int, share: Double)
    /// Nothing comes through to a viewer, nor from it, for so many seconds.
    case outage(viewer: Int, seconds: Double)
    /// The sharing side offers new credentials, or takes the offer back.
    case restartICE(viewer: Int, isTakenBack: Bool)
    case requestKeyFrames(viewer: Int, count: Int)
    case source(SoakContent, hasSound: Bool)
    case adaptOutputFormat(width: Int, height: Int, framesPerSecond: Double)
    case hint(String?)
    case limit(kilobitsPerSecond: Int, framesPerSecond: Double)
    case volume(Double)
    case pause(seconds: Double)
    case destination(SoakDestination)
    /// Everybody leaves, and what is left behind is looked at.
    case ebb
}

/// What is shared.
enum SoakContent: Codable, Hashable {
    /// The test pattern.
    case pattern(width: Int, height: Int, framesPerSecond: Double)
    /// Pictures of a screen, made before.
    case screen(ScreenContent)
}

/// Where a viewer is.
enum SoakPlace: String, Codable, CaseIterable {
    case main
    case both
    case group

    func includes(_ destination: SoakDestination) -> Bool {
        self == .both || self == (destination == .main ? .main : .group)
    }
}

/// Where the share goes.
enum SoakDestination: String, Codable {
    case main
    case group
}

extension SoakAction {
    /// The viewer that it happens to.
    var viewer: Int? {
        switch self {
        case .join(let viewer, _, _, _), .leave(let viewer), .vanish(let viewer), .dismiss(let viewer),
            .move(let viewer, _), .lose(let viewer, _), .outage(let viewer, _), .restartICE(let viewer, _),
            .requestKeyFrames(let viewer, _):
            viewer
        case .source, .adaptOutputFormat, .hint, .limit, .volume, .pause, .destination, .ebb: nil
        }
    }

    /// Its name.
    var name: String {
        let text = "\(self)"
        return String(text[..<(text.firstIndex(of: "(") ?? text.endIndex)])
    }

    /// All of it, as JSON.
    var text: String { (try? line).map { String(decoding: $0.dropLast(), as: UTF8.self) } ?? name }
}
