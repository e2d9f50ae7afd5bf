public import RTCShareMedia

/// A window of an X display, as its window manager keeps it.
public struct DisplayWindow: Sendable, Hashable, CustomStringConvertible {
    /// The X server's number of it.
    public let id: UInt32
    /// What its title bar says, without characters that can't be seen; empty where it has no title.
    public let title: String
    /// The program's name for itself, as windows tell it (the class in `WM_CLASS`), for instance `XTerm`.
    public let application: String?
    /// The process that it says it belongs to (`_NET_WM_PID`).
    public let processID: Int32?
    /// Columns and rows, without the frame that a window manager adds.
    public let size: PixelSize
    /// Whether it is minimised, or on another desktop: it has no picture until that is over.
    public let isMinimised: Bool
    /// From 0, with which it can't be seen on the screen, to 1 (`_NET_WM_WINDOW_OPACITY`). Its own picture doesn't depend on it.
    public let opacity: Double
    /// Whether the window manager keeps it above others (`_NET_WM_STATE_ABOVE`), as toolbars and pictures in pictures are.
    public let isKeptAbove: Bool

    /// A window with all that is known of it.
    public init(
        id: UInt32, title: String, application: String?, processID: Int32?, size: PixelSize, isMinimised: Bool = false,
        opacity: Double = 1, isKeptAbove: Bool = false
    ) {
        self.id = id
        self.title = title
        self.application = application
        self.processID = processID
        self.size = size
        self.isMinimised = isMinimised
        self.opacity = opacity
        self.isKeptAbove = isKeptAbove
    }

    /// `0x1400007 'xterm' (484x316, XTerm)`.
    public var description: String {
        let more = [application, isMinimised ? "minimized" : nil].compactMap { $0 }
        return "\(specification) '\(title)' (\(([size.description] + more).joined(separator: ", ")))"
    }

    /// What names it among all windows.
    public var specification: WindowSpecification { .id(id) }
}

/// Which window is meant.
public enum WindowSpecification: Sendable, Hashable, CustomStringConvertible {
    /// The one that the X server has under this number.
    case id(UInt32)
    /// The one whose title is this, or else has this in it. Capitals, the number of spaces and characters that can't be seen
    /// don't matter.
    case title(String)

    /// `0x1400007`, or `title=xterm`.
    public var description: String {
        switch self {
        case .id(let id): "0x" + String(id, radix: 16)
        case .title(let text): "title=" + text
        }
    }
}

/// Which windows are left out where windows are listed, and where one is looked for by its title.
///
/// A program that draws over what it shares (a frame, a toolbar, an own picture) doesn't want these offered to be shared.
/// They are never in the picture of another window; a ``DisplaySource`` shows them as the screen does.
public struct WindowFilter: Sendable, Hashable {
    /// Windows of these processes are left out.
    public var processIDs: Set<Int32>
    /// These windows are left out, whichever process has made them.
    public var windows: Set<UInt32>

    /// Leaves out the windows of some processes, and some by themselves.
    public init(processIDs: Set<Int32> = [], windows: Set<UInt32> = []) {
        self.processIDs = processIDs
        self.windows = windows
    }

    /// Leaves out what this process has on the screen.
    public static var own: WindowFilter { WindowFilter(processIDs: [currentProcessID()]) }

    /// Leaves out nothing: a program's own windows are among the others.
    public static var nothing: WindowFilter { WindowFilter() }

    func leavesOut(_ window: DisplayWindow) -> Bool {
        windows.contains(window.id) || window.processID.map { processIDs.contains($0) } ?? false
    }
}

extension WindowSpecification {
    /// The window that is meant of those that there are.
    func choose(from windows: [DisplayWindow]) throws(CaptureError) -> DisplayWindow {
        let matching: [DisplayWindow]
        switch self {
        case .id(let id):
            matching = windows.filter { $0.id == id }
        case .title(let text):
            let wanted = text.folded
            let equal = windows.filter { $0.title.folded == wanted }
            matching = equal.isEmpty ? windows.filter { $0.title.folded.contains(wanted) } : equal
        }
        guard let window = matching.first else { throw .unknownWindow(self, windows: windows) }
        guard matching.count == 1 else { throw .ambiguousWindow(self, windows: matching) }
        return window
    }
}

extension String {
    /// What names are compared by: without differences of capitals (`ß` is `SS`), with single spaces, and without characters
    /// that can't be seen.
    var folded: String {
        let visible = String(
            String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .format }))
        return visible.split(whereSeparator: \.isWhitespace).joined(separator: " ").uppercased().lowercased()
    }
}
