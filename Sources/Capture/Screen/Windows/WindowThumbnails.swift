public import FoundationEssentials
import RTCShareCXCB
import RTCShareCYUV
public import RTCShareMedia

extension WindowSource {
    /// Returns small images of listed windows, by the windows' numbers: each shows the whole window, fitted within
    /// `size`. A window without pixels (because it is minimized, or was closed) has no image.
    ///
    /// It takes some tenths of a second, and the memory of a few screens: call it where waiting is acceptable.
    public static func thumbnails(
        of windows: [DisplayWindow], fitting size: PixelSize,
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> [UInt32: PixelBuffer] {
        let connection = try XConnection(display: display)
        guard try connection.queryComposite() else { return [:] }
        var thumbnails = try WindowThumbnails(connection: connection, bound: size)
        return try thumbnails.pictures(of: windows)
    }
}

/// Captures an image of each of many windows.
struct WindowThumbnails {
    let connection: XConnection
    let bound: PixelSize
    /// The maximum number of pixels that the X server keeps for this at a time, four bytes each: windows of a few
    /// screens.
    static let mostPixels = 32 << 20
    private let atoms: WindowAtoms
    private var reader: ScreenReader
    /// The memory into which windows are read, one after the other.
    private var segment: SharedSegment?

    /// A window whose pixels the server keeps.
    private struct Redirected {
        let subject: WindowSubject
        /// The time at which its program has drawn the parts that were covered.
        let settled: Duration
    }

    init(connection: XConnection, bound: PixelSize) throws(CaptureError) {
        self.connection = connection
        self.bound = bound
        atoms = try WindowAtoms(on: connection)
        reader = ScreenReader(connection: connection)
    }

    /// Returns the images. While one window is read, the programs of the next ones draw. A single window that is too
    /// large is skipped.
    mutating func pictures(of windows: [DisplayWindow]) throws(CaptureError) -> [UInt32: PixelBuffer] {
        var pictures: [UInt32: PixelBuffer] = [:]
        var waiting = PixelQueue<Redirected>(capacity: Self.mostPixels)
        let signal = try StopSignal()
        for window in windows where !window.isMinimized && window.size.area <= Self.mostPixels {
            while let next = waiting.removeFirst(beforeAdding: window.size.area) {
                pictures[next.subject.watched] = try picture(of: next, signal)
            }
            guard let subject = try subject(of: window) else { continue }
            let settled = monotonicNow() + subject.settlingTime
            waiting.append(Redirected(subject: subject, settled: settled), area: window.size.area)
        }
        while let next = waiting.removeFirst() { pictures[next.subject.watched] = try picture(of: next, signal) }
        return pictures
    }

    /// Returns the subject; nil if the window was closed in between.
    private func subject(of window: DisplayWindow) throws(CaptureError) -> WindowSubject? {
        do throws(CaptureError) {
            return try WindowSubject(window, on: connection, atoms: atoms)
        } catch {
            guard error.isOfWindow else { throw error }
            return nil
        }
    }

    /// Returns the image; nil if the window was closed or changed in between.
    private mutating func picture(
        of window: Redirected, _ signal: StopSignal
    ) throws(CaptureError) -> PixelBuffer? {
        _ = signal.wait(until: window.settled)
        do throws(CaptureError) {
            return try thumbnail(of: window.subject)
        } catch {
            guard error.isOfWindow else { throw error }
            return nil
        }
    }

    private mutating func thumbnail(of subject: WindowSubject) throws(CaptureError) -> PixelBuffer? {
        guard case .shown(let place, _) = try subject.locate(signal: nil) else { return nil }
        let size = place.pixels.area.size
        // It may have become larger.
        guard size.area <= Self.mostPixels else { return nil }
        let picture = ScreenPicture(size: size, segment: try segment(ofPixels: size.area))
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        guard try reader.read([whole], of: place.pixels, into: picture, signal: nil) else { return nil }
        let fitted = size.fitted(within: bound)
        guard fitted.area > 0 else { return nil }
        return PixelBuffer(size: fitted, format: .bgra) { planes, strides in
            _ = ARGBScale(
                picture.memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(picture.stride),
                Int32(size.width), Int32(size.height), planes[0].baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(strides[0]), Int32(fitted.width), Int32(fitted.height), kFilterBox)
        }
    }

    /// Returns memory for so many pixels, that of the window before if it is large enough.
    private mutating func segment(ofPixels count: Int) throws(CaptureError) -> SharedSegment? {
        if let segment, segment.memory.count >= count * 4 { return segment }
        segment = nil
        segment = try SharedSegment(connection: connection, byteCount: count * 4)
        return segment
    }
}

/// A queue of elements that need pixels, with a limit of their total number.
struct PixelQueue<Element> {
    let capacity: Int
    private var elements: [(element: Element, area: Int)] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of pixels of all elements.
    var area: Int { elements.reduce(0) { $0 + $1.area } }

    mutating func append(_ element: Element, area: Int) { elements.append((element, area)) }

    /// Removes the oldest and returns it; nil if the queue is empty.
    mutating func removeFirst() -> Element? { elements.isEmpty ? nil : elements.removeFirst().element }

    /// Removes the oldest and returns it, if there is no room for one more of this area; nil if there is room.
    mutating func removeFirst(beforeAdding area: Int) -> Element? {
        self.area + area > capacity ? removeFirst() : nil
    }
}

extension CaptureError {
    /// Whether the error means that the window was closed or changed in between.
    fileprivate var isOfWindow: Bool {
        switch self {
        case .windowClosed, .requestRefused: true
        default: false
        }
    }
}
