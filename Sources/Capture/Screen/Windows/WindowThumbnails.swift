public import FoundationEssentials
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
        var images = ImageReader(connection: connection, bound: size)
        var found: [UInt32: PixelBuffer] = [:]
        _ = try WindowThumbnails(connection: connection).read(windows, with: &images, signal: nil) { found[$0] = $1 }
        return found
    }
}

/// Captures an image of each of many windows.
struct WindowThumbnails {
    private let connection: XConnection
    private let atoms: WindowAtoms
    private let laterEvents: UInt32
    /// Whether windows have pixels of their own, so that reading one changes nothing.
    let isComposited: Bool

    /// A window whose pixels the server keeps.
    private struct Redirected {
        let subject: WindowSubject
        /// The time at which its program has drawn the parts that were covered.
        let settled: Duration
    }

    /// - Parameter laterEvents: The events of a window that the connection watches after it was read.
    init(connection: XConnection, laterEvents: UInt32 = 0) throws(CaptureError) {
        self.connection = connection
        self.laterEvents = laterEvents
        atoms = try WindowAtoms(on: connection)
        isComposited = try connection.hasCompositor()
    }

    /// Reads the windows, and passes the image of each to `take` with the window's number. Windows without pixels have
    /// no image, nor has a window that is too large. Returns false if `signal` was raised.
    ///
    /// Without a compositor the server keeps the pixels of some windows for this, ``ImageReader/mostPixels`` at a time,
    /// four bytes each. While one window is read, the programs of the next ones draw.
    func read(
        _ windows: [DisplayWindow], with images: inout ImageReader, signal: StopSignal?,
        take: (UInt32, PixelBuffer) -> Void
    ) throws(CaptureError) -> Bool {
        var waiting = PixelQueue<Redirected>(capacity: ImageReader.mostPixels)
        let waitingSignal = if let signal { signal } else { try StopSignal() }
        func finish(_ next: Redirected) throws(CaptureError) {
            _ = waitingSignal.wait(until: next.settled)
            guard let image = try image(of: next.subject, with: &images, signal: signal) else { return }
            take(next.subject.watched, image)
        }
        for window in windows where !window.isMinimized && window.size.area <= ImageReader.mostPixels {
            if isComposited {
                if let image = try image(of: window, with: &images, signal: signal) { take(window.id, image) }
            } else {
                while let next = waiting.removeFirst(beforeAdding: window.size.area) { try finish(next) }
                guard signal?.isRaised != true else { return false }
                guard let subject = try subject(of: window) else { continue }
                let settled = monotonicNow() + subject.settlingTime
                waiting.append(Redirected(subject: subject, settled: settled), area: window.size.area)
            }
            guard signal?.isRaised != true else { return false }
        }
        while let next = waiting.removeFirst() { try finish(next) }
        return signal?.isRaised != true
    }

    /// Returns the subject; nil if the window was closed in between.
    private func subject(of window: DisplayWindow) throws(CaptureError) -> WindowSubject? {
        try ifOfWindow { () throws(CaptureError) in
            try WindowSubject(window, on: connection, atoms: atoms, laterEvents: laterEvents)
        }
    }

    /// Returns the image; nil if the window was closed or changed in between, or `signal` was raised.
    private func image(
        of subject: WindowSubject, with images: inout ImageReader, signal: StopSignal?
    ) throws(CaptureError) -> PixelBuffer? {
        try ifOfWindow { () throws(CaptureError) in
            guard case .shown(let place, _) = try subject.locate(signal: signal) else { return nil }
            return try images.images(of: [place.pixels.area], in: place.pixels, signal: signal)?[0]
        }
    }

    /// Returns the image of a window that has pixels of its own.
    private func image(
        of window: DisplayWindow, with images: inout ImageReader, signal: StopSignal?
    ) throws(CaptureError) -> PixelBuffer? {
        try ifOfWindow { () throws(CaptureError) in
            guard let geometry = try connection.geometry(of: window.id, signal: signal), geometry.size.isSharable
            else { return nil }
            let pixels = ScreenGeometry.Pixels(
                drawable: window.id, area: PixelRectangle(x: 0, y: 0, size: geometry.size).even)
            return try images.images(of: [pixels.area], in: pixels, signal: signal)?[0]
        }
    }

    /// Returns nil if `body` throws because the window was closed or changed in between.
    private func ifOfWindow<Result>(
        _ body: () throws(CaptureError) -> Result?
    ) throws(CaptureError) -> Result? {
        do throws(CaptureError) {
            return try body()
        } catch {
            guard error.isOfWindow else { throw error }
            return nil
        }
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
