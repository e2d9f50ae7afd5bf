public import RTCShareWireFormat

/// A first-in, first-out queue in reused memory. It releases memory beyond ``keptCount`` when it is empty: a room has
/// thousands of queues, and few are long at a time.
///
/// Size and time are next to each element, so that the next one can be checked without a copy of it.
@usableFromInline
struct RingQueue<Element> {
    @usableFromInline
    struct Stamp: Sendable {
        /// The size in bytes.
        @usableFromInline let size: Int
        /// The time at which the element was queued.
        @usableFromInline let queued: Instant

        @inlinable
        init(size: Int, queued: Instant) {
            self.size = size
            self.queued = queued
        }
    }

    /// A slot of the ring.
    @usableFromInline
    struct Slot {
        @usableFromInline var element: Element?
        @usableFromInline var stamp: Stamp

        @inlinable
        init(element: consuming Element?, stamp: Stamp) {
            self.element = element
            self.stamp = stamp
        }
    }

    @usableFromInline var slots: [Slot]
    @usableFromInline var head = 0
    @usableFromInline var count = 0
    /// The number of slots that are kept.
    @usableFromInline static var keptCount: Int { 32 }

    @inlinable
    init() {
        // Many queues stay empty forever.
        slots = []
    }

    @inlinable var isEmpty: Bool { count == 0 }

    /// The stamp of the next element; nil if the queue is empty.
    @inlinable var next: Stamp? { isEmpty ? nil : slots[head].stamp }

    @inlinable
    mutating func append(_ element: consuming Element, _ stamp: Stamp) {
        if count == slots.count { grow() }
        let index = (head + count) & (slots.count - 1)
        slots[index] = Slot(element: element, stamp: stamp)
        count += 1
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].element.take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        if count == 0, slots.count > Self.keptCount { self = RingQueue() }
        return element
    }

    @inlinable
    mutating func removeAll() {
        while popFirst() != nil {}
        head = 0
    }

    @inlinable
    mutating func grow() {
        let capacity = slots.count
        let newCapacity = max(16, capacity * 2)
        var larger: [Slot] = []
        larger.reserveCapacity(newCapacity)
        for index in 0..<count { larger.append(slots[(head + index) & (capacity - 1)]) }
        let empty = Slot(element: nil, stamp: Stamp(size: 0, queued: .distantFuture))
        larger.append(contentsOf: repeatElement(empty, count: newCapacity - count))
        slots = larger
        head = 0
    }
}

extension RingQueue.Slot: Sendable where Element: Sendable {}
extension RingQueue: Sendable where Element: Sendable {}
