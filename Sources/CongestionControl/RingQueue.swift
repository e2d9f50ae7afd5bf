/// First in, first out, in memory that is used again: it grows to what was once needed and then allocates no more.
@usableFromInline
struct RingQueue<Element> {
    @usableFromInline var slots: [Element?]
    @usableFromInline var head = 0
    @usableFromInline var count = 0

    @inlinable
    init(minimumCapacity: Int = 16) {
        var capacity = 16
        while capacity < minimumCapacity { capacity *= 2 }
        slots = Array(repeating: nil, count: capacity)
    }

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable var first: Element? { isEmpty ? nil : slots[head] }

    @inlinable
    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    @inlinable
    mutating func removeAll() {
        while popFirst() != nil {}
        head = 0
    }

    @inlinable
    mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(slots.count * 2)
        for index in 0..<count { larger.append(slots[(head + index) & (slots.count - 1)]) }
        larger.append(contentsOf: repeatElement(nil, count: slots.count * 2 - count))
        slots = larger
        head = 0
    }
}

extension RingQueue: Sendable where Element: Sendable {}
