public import RTCShareMedia

/// A window of an X display, as the window manager describes it.
public struct DisplayWindow: Sendable, Hashable, CustomStringConvertible {
    /// The X server's number of the window.
    public let id: UInt32
    /// The text of its title bar, without invisible characters; empty if it has no title.
    public let title: String
    /// The program's name as its windows report it (the class in `WM_CLASS`), for example `XTerm`.
    public let application: String?
    /// The process that it reports as its owner (`_NET_WM_PID`).
    public let processID: Int32?
    /// The size in pixels, without the window manager's frame.
    public let size: PixelSize
    /// Whether it is minimized, or on another desktop: it has no video until that ends.
    public let isMinimized: Bool
    /// The opacity, from 0 (invisible) to 1 (`_NET_WM_WINDOW_OPACITY`). The captured pixels don't depend on it.
    public let opacity: Double
    /// Whether the window manager keeps it above others (`_NET_WM_STATE_ABOVE`), like toolbars and picture in picture.
    public let isKeptAbove: Bool

    /// Creates a window description.
    public init(
        id: UInt32, title: String, application: String?, processID: Int32?, size: PixelSize, isMinimized: Bool = false,
        opacity: Double = 1, isKeptAbove: Bool = false
    ) {
        self.id = id
        self.title = title
        self.application = application
        self.processID = processID
        self.size = size
        self.isMinimized = isMinimized
        self.opacity = opacity
        self.isKeptAbove = isKeptAbove
    }

    /// The text `0x1400007 'xterm' (484x316, XTerm)`.
    public var description: String {
        let more = [application, isMinimized ? "minimized" : nil].compactMap { $0 }
        return "\(specification) '\(title)' (\(([size.description] + more).joined(separator: ", ")))"
    }

    /// The specification that identifies it among all windows.
    public var specification: WindowSpecification { .id(id) }
}

/// The identification of a window.
public enum WindowSpecification: Sendable, Hashable, CustomStringConvertible {
    /// The window with this number of the X server.
    case id(UInt32)
    /// The window whose title is this text, or contains it. Case, the number of spaces and invisible characters don't
    /// matter.
    case title(String)

    /// The text `0x1400007`, or `title=xterm`.
    public var description: String {
        switch self {
        case .id(let id): "0x" + String(id, radix: 16)
        case .title(let text): "title=" + text
        }
    }
}

/// The windows that are excluded from lists, and from the search by title.
///
/// A program that draws over its share (a frame, a toolbar, a self-view) does not offer these windows. They are never
/// part of another window's video; a ``DisplaySource`` shows them as the screen does.
public struct WindowFilter: Sendable, Hashable {
    /// The processes whose windows are excluded.
    public var processIDs: Set<Int32>
    /// The windows that are excluded, whatever their process.
    public var windows: Set<UInt32>

    /// Creates a filter that excludes the windows of some processes, and single windows.
    public init(processIDs: Set<Int32> = [], windows: Set<UInt32> = []) {
        self.processIDs = processIDs
        self.windows = windows
    }

    /// The filter that excludes this process's windows.
    public static var own: WindowFilter { WindowFilter(processIDs: [currentProcessID()]) }

    /// The filter that excludes nothing, so that the program's own windows are listed.
    public static var nothing: WindowFilter { WindowFilter() }

    func leavesOut(_ window: DisplayWindow) -> Bool {
        windows.contains(window.id) || window.processID.map { processIDs.contains($0) } ?? false
    }
}

extension WindowSpecification {
    /// Returns the specified window among the existing ones.
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
    /// The form in which names are compared: without differences of case (`ß` is `SS`), with single spaces, and without
    /// invisible characters.
    var folded: String {
        let visible = String(
            String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .format }))
        return visible.split(whereSeparator: \.isWhitespace).joined(separator: " ").uppercased().lowercased()
    }
}
