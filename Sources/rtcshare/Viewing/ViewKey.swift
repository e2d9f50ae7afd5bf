/// What a key does in the window of `view`.
enum ViewKey: Sendable, Hashable, CaseIterable {
    case toggleFullScreen
    case leaveFullScreen
    case showNaturalSize
    case toggleSound
    case takeSnapshot
    case quit

    /// What the key is for that stands for `character`; nil where it is for nothing.
    init?(_ character: Character) {
        guard let key = Self.allCases.first(where: { $0.character == character }) else { return nil }
        self = key
    }

    private var character: Character {
        switch self {
        case .toggleFullScreen: "f"
        case .leaveFullScreen: "\u{1B}"
        case .showNaturalSize: "1"
        case .toggleSound: "m"
        case .takeSnapshot: "s"
        case .quit: "q"
        }
    }

    /// What a person is told of them.
    static let help = "Keys in the window: f full screen, 1 actual size, m mute, s save a frame, q quit."
}
