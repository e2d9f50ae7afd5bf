import RTCShareCXCB
import RTCShareMedia

/// The subject of capture: a part of the screen, or one window. Used on one thread.
protocol ScreenSubject {
    /// The window whose changes are watched, and whose coordinates ``ScreenGeometry`` uses.
    var watched: xcb_window_t { get }
    /// The time for which the pixels of a new place are not read, because they may belong to something else until then.
    var settlingTime: Duration { get }
    /// Handles an event, and returns whether the subject may have moved or changed size.
    mutating func handle(_ event: XEvent) -> Bool
    /// Looks everything up again with the next ``locate(signal:)``, after the server has rejected known values.
    mutating func forget()
    /// Finds the current place of the subject. Throws if it is gone permanently.
    mutating func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight
}

/// The result of the search for a subject.
enum ScreenSight {
    /// It has pixels. If nobody at the screen can see it, that is ``CaptureInterruption/movedOffScreen``.
    case shown(ScreenGeometry, CaptureInterruption?)
    /// It has no pixels for now.
    case hidden(CaptureInterruption)
    /// The signal was raised.
    case stopped
}

extension PixelSize {
    /// Whether video can have this size, apart from an odd last column or row.
    var isSharable: Bool {
        let sides = 2...VideoFrame.maximumSide
        return sides.contains(width) && sides.contains(height)
    }
}

extension PixelRectangle {
    /// The rectangle without an odd last column and row.
    var even: PixelRectangle {
        PixelRectangle(x: x, y: y, size: PixelSize(width: max(size.width & ~1, 2), height: max(size.height & ~1, 2)))
    }
}
