import RTCShareCXCB
import RTCShareMedia

/// What pictures are taken of: a part of the screen, or one window. Lives on one thread.
protocol ScreenSubject {
    /// The window whose changes are watched, and whose coordinates are those of ``ScreenGeometry``.
    var watched: xcb_window_t { get }
    /// For how long the pixels of a new place are not looked at: until then they may be those of something else.
    var settlingTime: Duration { get }
    /// Takes note of an event; whether what is shared may be elsewhere, or of another size, since.
    mutating func handle(_ event: XEvent) -> Bool
    /// Looks everything up again with the next ``locate(signal:)``: the server has refused what was known.
    mutating func forget()
    /// Finds out where what is shared is at this moment; throws where it is gone for good.
    mutating func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight
}

/// How a subject is found.
enum ScreenSight {
    /// It has pixels. Where nobody at the screen can see it, ``CaptureInterruption/movedOffScreen`` goes with them.
    case shown(ScreenGeometry, CaptureInterruption?)
    /// It has none for now.
    case hidden(CaptureInterruption)
    /// The signal was raised.
    case stopped
}

/// Where a subject is. Coordinates are those of the window that is watched.
struct ScreenGeometry {
    /// Where its pixels are.
    struct Pixels: Equatable {
        /// A window, or the memory behind one.
        let drawable: xcb_drawable_t
        /// The part that is shared, with even sides.
        let area: PixelRectangle
        /// What is added to a coordinate for that of `drawable`: the memory behind a window begins with its border.
        var inset = 0
    }

    /// How the pointer's place is asked for.
    struct Pointer {
        /// The window to which it is told.
        let window: xcb_window_t
        /// The child of that window which it has to be over; nil where it is always drawn.
        var child: xcb_window_t?
        /// Where coordinates begin in that window.
        var origin = (x: 0, y: 0)
    }

    let pixels: Pixels
    let pointer: Pointer
}

extension PixelSize {
    /// Whether a picture can have this size, but for an odd last column or row.
    var isSharable: Bool {
        let sides = 2...VideoFrame.maximumSide
        return sides.contains(width) && sides.contains(height)
    }
}

extension PixelRectangle {
    /// Without an odd last column and row.
    var even: PixelRectangle {
        PixelRectangle(x: x, y: y, size: PixelSize(width: max(size.width & ~1, 2), height: max(size.height & ~1, 2)))
    }
}
