internal import Glibc
import RTCShareCYUV
import RTCShareMedia

/// A picture of a screen, in memory that an X server writes itself where it can.
final class ScreenPicture: VideoFrameBuffer, @unchecked Sendable {
    // Sendable: written only by `ScreenPictures`, while it holds the one reference.
    let size: PixelSize
    let format = PixelFormat.bgra
    /// Where the server puts whole rows of it; nil where the memory is not shared.
    let segment: SharedSegment?
    let memory: UnsafeMutableRawBufferPointer
    // Kept so that lending them allocates nothing.
    private let planes: [UnsafeRawBufferPointer]
    private let strides: [Int]

    var stride: Int { size.width * 4 }

    init(size: PixelSize, segment: SharedSegment?) {
        self.size = size
        self.segment = segment
        memory = segment?.memory ?? .allocate(byteCount: size.area * 4, alignment: 64)
        planes = [UnsafeRawBufferPointer(memory)]
        strides = [size.width * 4]
    }

    deinit {
        if segment == nil { memory.deallocate() }
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: planes, strides: strides))
        }
    }

    /// Copies a part from where its rows lie `stride` bytes apart.
    func write(_ part: PixelRectangle, from source: UnsafeRawPointer, stride sourceStride: Int) {
        let target = memory.baseAddress?.advanced(by: part.y * stride + part.x * 4)
        CopyPlane(
            source.assumingMemoryBound(to: UInt8.self), Int32(sourceStride),
            target?.assumingMemoryBound(to: UInt8.self), Int32(stride), Int32(part.size.width * 4),
            Int32(part.size.height))
    }
}

/// The newest picture of a screen, and memory for the next ones.
///
/// A picture that somebody still looks at is left alone: the next is made in memory that is free, of what changed and of
/// a copy of what that memory has missed. Where only a line changed, a line is copied.
struct ScreenPictures {
    private struct Slot {
        var picture: ScreenPicture
        /// What changed since the picture was written; nil is everything.
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

    /// How many are kept: one that is encoded, one that waits for that, and two for who looks on.
    private static let capacity = 4
    /// More parts than this are taken for everything.
    private static let longestList = 64

    /// The X server that may write the pictures; nil where there is none.
    private let connection: XConnection?
    private(set) var size: PixelSize
    /// False once the server was found to share no memory with us, for instance over a network.
    private var sharesMemory = true
    /// The newest is the last.
    private var slots: [Slot] = []

    init(connection: XConnection? = nil, size: PixelSize) {
        self.connection = connection
        self.size = size
    }

    /// The newest picture.
    var newest: ScreenPicture? { slots.last?.picture }

    /// Forgets all pictures; the next ones have this size.
    mutating func reset(to size: PixelSize) {
        self.size = size
        slots = []
    }

    /// The picture to be written next: in all but `parts` what the newest is, where there are parts and a newest. All of the
    /// parts is to be written; what lies in `overlay` may be drawn over then.
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
            // What is written anew is not copied first: what scrolls changes in the same place each time.
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

    /// The newest where nobody holds it, or else the one of the free ones that was written last.
    private mutating func freeSlot() -> Int? {
        for index in slots.indices.reversed() where isKnownUniquelyReferenced(&slots[index].picture) { return index }
        return nil
    }
}
