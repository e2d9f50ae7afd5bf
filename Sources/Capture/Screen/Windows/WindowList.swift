import RTCShareCXCB
import RTCShareMedia

/// Finds the windows that users know, among all windows of an X server.
struct WindowList {
    private let connection: XConnection
    private let atoms: WindowAtoms

    /// The maximum depth of the program's window in a frame: there is seldom more than one window between.
    private static let deepestFrame = 3

    init(connection: XConnection) throws(CaptureError) {
        self.connection = connection
        atoms = try WindowAtoms(on: connection)
    }

    /// Returns the windows that can be shared, in the window manager's order, which is usually that of their creation.
    func windows(leavingOut filter: WindowFilter, includingMinimized: Bool) throws(CaptureError) -> [DisplayWindow] {
        var found: [DisplayWindow] = []
        for id in try candidates() {
            do throws(CaptureError) {
                guard let window = try describe(id), includingMinimized || !window.isMinimized,
                    !filter.leavesOut(window)
                else { continue }
                found.append(window)
            } catch {
                // It was closed in between.
                guard error.saysThatWindowIsGone else { throw error }
            }
        }
        return found
    }

    /// Returns one window, whether or not lists contain it. Throws the reason why it can't be shared.
    func window(_ id: UInt32) throws(CaptureError) -> DisplayWindow {
        guard id != connection.root else {
            throw .unsharableWindow(
                .id(id), reason: "it is the whole screen's", remedy: .shareDisplay)
        }
        do throws(CaptureError) {
            guard let attributes = try connection.attributes(of: id, signal: nil),
                let geometry = try connection.geometry(of: id, signal: nil)
            else { throw CaptureError.windowClosed(id: id, title: "") }
            if let reason = problem(attributes, geometry) {
                throw CaptureError.unsharableWindow(.id(id), reason: reason, remedy: .chooseListedWindow)
            }
            return try describe(id, attributes, geometry)
        } catch {
            guard error.saysThatWindowIsGone else { throw error }
            throw .unknownWindow(.id(id), windows: try windows(leavingOut: .own, includingMinimized: true))
        }
    }

    /// Returns the window manager's list, or else the windows on the screen.
    private func candidates() throws(CaptureError) -> [xcb_window_t] {
        let managed = try connection.property(atoms.clientList, of: connection.root, signal: nil)?.numbers ?? []
        // The list of a window manager that has ended names old windows.
        for id in managed where try isThere(id) { return managed }
        var found: [xcb_window_t] = []
        for child in try connection.children(of: connection.root, signal: nil) ?? [] {
            do throws(CaptureError) {
                guard let attributes = try connection.attributes(of: child, signal: nil), attributes.isViewable,
                    !attributes.isInputOnly
                else { continue }
                if let client = try client(in: child, depth: 0) {
                    found.append(client)
                } else if !attributes.isUnmanaged {
                    found.append(child)
                }
            } catch {
                guard error.saysThatWindowIsGone else { throw error }
            }
        }
        return found
    }

    private func isThere(_ id: xcb_window_t) throws(CaptureError) -> Bool {
        do throws(CaptureError) {
            return try connection.attributes(of: id, signal: nil) != nil
        } catch {
            guard error.saysThatWindowIsGone else { throw error }
            return false
        }
    }

    /// Returns the window in a frame that the window manager manages, or the window itself if it has no frame.
    private func client(in window: xcb_window_t, depth: Int) throws(CaptureError) -> xcb_window_t? {
        if try connection.property(atoms.state, of: window, signal: nil)?.bytes.isEmpty == false { return window }
        guard depth < Self.deepestFrame else { return nil }
        for child in try connection.children(of: window, signal: nil) ?? [] {
            if let client = try client(in: child, depth: depth + 1) { return client }
        }
        return nil
    }

    /// Returns the description of a listed window; nil if it can't be shared, or is hidden without being minimized.
    private func describe(_ id: xcb_window_t) throws(CaptureError) -> DisplayWindow? {
        guard let attributes = try connection.attributes(of: id, signal: nil), !attributes.isUnmanaged,
            let geometry = try connection.geometry(of: id, signal: nil), problem(attributes, geometry) == nil
        else { return nil }
        let window = try describe(id, attributes, geometry)
        return attributes.isViewable || window.isMinimized ? window : nil
    }

    private func describe(
        _ id: xcb_window_t, _ attributes: WindowAttributes, _ geometry: WindowGeometry
    ) throws(CaptureError) -> DisplayWindow {
        let application = try connection.property(xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue), of: id, signal: nil)
        // The instance's name, then that of the class, each ended by a zero.
        let names = application?.bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self).printable } ?? []
        let process = try connection.property(atoms.processID, of: id, signal: nil)?.numbers.first
        let isIconified = try connection.isIconified(id, atoms, signal: nil) ?? false
        let opacity = try connection.property(atoms.opacity, of: id, signal: nil)?.numbers.first ?? .max
        let states = try connection.property(atoms.managerState, of: id, signal: nil)?.numbers ?? []
        return DisplayWindow(
            id: id, title: try title(of: id), application: names.last,
            processID: process.flatMap { Int32(exactly: $0) }, size: geometry.size, isMinimized: isIconified,
            opacity: Double(opacity) / Double(UInt32.max), isKeptAbove: states.contains(atoms.above))
    }

    private func title(of id: xcb_window_t) throws(CaptureError) -> String {
        if let name = try connection.property(atoms.name, of: id, signal: nil), !name.bytes.isEmpty {
            return String(decoding: name.bytes, as: UTF8.self).printable
        }
        guard let name = try connection.property(xcb_atom_t(XCB_ATOM_WM_NAME.rawValue), of: id, signal: nil) else {
            return ""
        }
        if name.type == atoms.text { return String(decoding: name.bytes, as: UTF8.self).printable }
        // STRING is Latin-1 (ICCCM 2.7.1), whose characters have the same numbers in Unicode.
        return String(String.UnicodeScalarView(name.bytes.map { Unicode.Scalar($0) })).printable
    }

    /// Returns the reason why a window can't be shared; nil if it can.
    private func problem(_ attributes: WindowAttributes, _ geometry: WindowGeometry) -> String? {
        if attributes.isInputOnly { return "it has no pixels (InputOnly)" }
        if attributes.isUnmanaged, !attributes.isMapped { return "it is a menu or similar, and not on the screen" }
        guard geometry.size.isSharable else {
            return "it is \(geometry.size), and a video has sides of 2 to \(VideoFrame.maximumSide)"
        }
        return connection.unsupportedPixels(depth: geometry.depth)
    }
}

extension String {
    /// The text without characters that could control a terminal, limited to a readable length.
    fileprivate var printable: String {
        String(
            unicodeScalars.prefix(500).filter { $0.properties.generalCategory != .format }.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: " "
                default: Character(scalar)
                }
            }
        ).trimmingPrefixAndSuffixSpaces
    }

    private var trimmingPrefixAndSuffixSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
