import RTCShareCXCB
import RTCShareMedia

/// The place of a subject. Coordinates are those of the watched window.
struct ScreenGeometry {
    /// The place of its pixels.
    struct Pixels: Equatable {
        /// A window, or its pixmap.
        let drawable: xcb_drawable_t
        /// The shared part, with even sides.
        let area: PixelRectangle
        /// The offset from a coordinate to that of `drawable`: a window's pixmap begins with its border.
        var inset = 0
    }

    /// The parameters of a request for the pointer's position.
    struct Pointer {
        /// The window to which the position is relative.
        let window: xcb_window_t
        /// The child of that window that must contain the pointer; nil to draw it always.
        var child: xcb_window_t?
        /// The origin of the coordinates in that window.
        var origin = (x: 0, y: 0)
    }

    let pixels: Pixels
    let pointer: Pointer
}
