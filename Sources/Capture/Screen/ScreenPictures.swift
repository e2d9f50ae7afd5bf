internal import Glibc
import RTCShareCYUV
import RTCShareMedia

/// The newest frame of a screen, and memory for the next ones.
///
/// A frame that is still in use is not changed: the next is made in free memory, from the changes and from a copy of
/// those that this memory has missed. If only a line changed, a line is copied.
struct ScreenPictures {
    private struct Slot {
        var picture: ScreenPicture
        /// The changes since the frame was written; nil for everything.
        var missed: [PixelRectangle]?

        mutating func miss(_ parts: [PixelRectangle]?, _ overlay: PixelRectangle?) {
            guard let parts, let count = missed?.count, count + parts.count < longestList else {
                missed = nil
                return
            }
            missed?.append(contentsOf: parts)
            if let overlay { missed?.append(overlay) }
        }

        mutating func missNothing() {
            guard missed != nil else { return missed = [] }
            missed?.removeAll(keepingCapacity: true)
        }
    }

    /// The maximum number of frames: one that is encoded, one that waits for that, and two for other readers.
    private static let capacity = 4
    /// The number of parts above which everything counts as changed.
    private static let longestList = 64

    /// The X server that may write the frames; nil if there is none.
    private let connection: XConnection?
    private(set) var size: PixelSize
    /// Whether the server shares memory with this process. False for a remote server, for example.
    private var sharesMemory = true
    /// The frames, the newest last.
    private var slots: [Slot] = []

    init(connection: XConnection? = nil, size: PixelSize) {
        self.connection = connection
        self.size = size
    }

    /// The newest frame.
    var newest: ScreenPicture? { slots.last?.picture }

    /// Discards all frames; the next ones have this size.
    mutating func reset(to size: PixelSize) {
        self.size = size
        slots = []
    }

    /// Returns the frame to write next. If there are parts and a newest frame, it equals that in all other parts. The
    /// caller must write all of `parts`, and may then draw over `overlay`.
    mutating func begin(parts: [PixelRectangle]?, overlay: PixelRectangle?) throws(CaptureError) -> ScreenPicture {
        let free = freeSlot()
        let previous = newest
        if let free {
            slots.append(slots.remove(at: free))
        } else {
            if slots.count >= Self.capacity { slots.removeFirst() }
            slots.append(Slot(picture: try makePicture(), missed: nil))
        }
        let last = slots.count - 1
        let picture = slots[last].picture
        if let parts, let previous, previous !== picture, let start = previous.memory.baseAddress {
            for part in slots[last].missed ?? [PixelRectangle(x: 0, y: 0, size: size)]
            // Parts that will be written are not copied first: scrolling changes the same place each time.
            where !parts.contains(where: { $0.intersection(part) == part }) {
                picture.write(part, from: start + part.y * previous.stride + part.x * 4, stride: previous.stride)
            }
        }
        slots[last].missNothing()
        for index in 0..<last { slots[index].miss(parts, overlay) }
        return picture
    }

    private mutating func makePicture() throws(CaptureError) -> ScreenPicture {
        guard let connection, sharesMemory else { return ScreenPicture(size: size, segment: nil) }
        let segment = try SharedSegment(connection: connection, byteCount: size.area * 4)
        sharesMemory = segment != nil
        return ScreenPicture(size: size, segment: segment)
    }

    /// Returns the newest frame if it is not in use, or else the free one that was written last.
    private mutating func freeSlot() -> Int? {
        for index in slots.indices.reversed() where isKnownUniquelyReferenced(&slots[index].picture) { return index }
        return nil
    }
}
