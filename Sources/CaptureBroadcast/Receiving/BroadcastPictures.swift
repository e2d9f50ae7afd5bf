import RTCShareMedia

/// The newest frame of a connection, and memory for the next ones.
///
/// A frame that is still in use is not changed: the next is made in free memory, from the received parts and from a
/// copy of those that this memory has missed.
struct BroadcastPictures {
    private struct Slot {
        var picture: BroadcastPicture
        var missed: ChangedParts
    }

    /// The maximum number of frames: one that is encoded, one that waits for that, and two for other readers.
    private static let capacity = 4
    /// The frames, the newest last.
    private var slots: [Slot] = []
    private var isNewestWhole = false

    /// The newest frame.
    var newest: BroadcastPicture? { isNewestWhole ? slots.last?.picture : nil }

    /// Returns a frame to write completely, as described. Until ``finish()`` there is no newest one.
    mutating func beginWhole(_ description: PictureDescription) -> BroadcastPicture {
        slots.removeAll { !$0.picture.hasLayout(description) }
        take(size: description.size, format: description.format, strides: description.strides)
        isNewestWhole = false
        for index in slots.indices.dropLast() { slots[index].missed = .everything }
        slots[slots.count - 1].missed = .everything
        return slots[slots.count - 1].picture
    }

    /// Marks the frame of ``beginWhole(_:)`` as complete.
    mutating func finish() {
        isNewestWhole = true
        slots[slots.count - 1].missed = .nothing
    }

    /// Writes the parts of a description, whose pixels are `pixels`, over the newest frame; nil if they do not match
    /// that.
    mutating func apply(_ description: PictureDescription, pixels: UnsafeRawBufferPointer) -> BroadcastPicture? {
        guard let parts = description.parts, let previous = newest, previous.size == description.size,
            previous.format == description.format
        else { return nil }
        take(size: previous.size, format: previous.format, strides: previous.strides)
        let index = slots.count - 1
        let picture = slots[index].picture
        if picture !== previous { Self.copy(slots[index].missed, from: previous, to: picture) }
        var start = 0
        for part in parts {
            for plane in 0..<description.format.planeCount {
                let place = description.format.extent(of: part, plane: plane)
                let stride = picture.strides[plane]
                for row in 0..<place.rows {
                    let target = (place.row + row) * stride + place.column
                    UnsafeMutableRawBufferPointer(rebasing: picture.planes[plane][target..<target + place.rowBytes])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: pixels[start..<start + place.rowBytes]))
                    start += place.rowBytes
                }
            }
        }
        slots[index].missed = .nothing
        for other in 0..<index { slots[other].missed.add(ChangedParts(parts: parts)) }
        return picture
    }

    private static func copy(_ missed: ChangedParts, from source: BroadcastPicture, to target: BroadcastPicture) {
        for part in missed.parts ?? [PixelRectangle(x: 0, y: 0, size: source.size)] {
            for plane in 0..<source.format.planeCount {
                guard let from = source.planes[plane].baseAddress, let to = target.planes[plane].baseAddress else {
                    continue
                }
                copyPart(
                    of: source.format.extent(of: part, plane: plane), from: from, stride: source.strides[plane], to: to,
                    stride: target.strides[plane])
            }
        }
    }

    /// Moves memory that is not in use to the end.
    private mutating func take(size: PixelSize, format: PixelFormat, strides: [Int]) {
        for index in slots.indices.reversed() where isKnownUniquelyReferenced(&slots[index].picture) {
            return slots.append(slots.remove(at: index))
        }
        if slots.count >= Self.capacity { slots.removeFirst() }
        slots.append(
            Slot(picture: BroadcastPicture(size: size, format: format, strides: strides), missed: .everything))
    }
}
