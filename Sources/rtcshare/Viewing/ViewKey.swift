/// The effect of a key in the window of `view`.
enum ViewKey: Sendable, Hashable, CaseIterable {
    case toggleFullScreen
    case leaveFullScreen
    case showNaturalSize
    case toggleSound
    case takeSnapshot
    case quit

    /// Returns the effect of the key for `character`. Nil if it has none.
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

    /// The keys in the output of `view`.
    static let help = "Keys in the window: f full screen, 1 actual size, m mute, s save a frame, q quit."
}
