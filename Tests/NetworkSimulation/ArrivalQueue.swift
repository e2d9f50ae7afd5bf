internal import RTCShareWireFormat

/// The packets under way, by their arrival. Those of the same time arrive in the order in which they were added.
struct ArrivalQueue<Element: Sendable>: Sendable {
    private struct Transit: Sendable {
        let arrival: Instant
        let order: Int
        let element: Element

        func isEarlier(than other: Transit) -> Bool {
            (arrival, order) < (other.arrival, other.order)
        }
    }

    /// A binary heap: each entry is earlier than its two children.
    private var transits: [Transit] = []
    private var nextOrder = 0

    /// The time of the next arrival; nil if nothing is under way.
    var nextArrival: Instant? { transits.first?.arrival }

    /// The number of packets under way.
    var count: Int { transits.count }

    mutating func push(_ element: Element, arrival: Instant) {
        transits.append(Transit(arrival: arrival, order: nextOrder, element: element))
        nextOrder += 1
        var child = transits.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard transits[child].isEarlier(than: transits[parent]) else { return }
            transits.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first, if it has arrived by `now`.
    mutating func pop(now: Instant) -> (arrival: Instant, element: Element)? {
        guard let first = transits.first, first.arrival <= now else { return nil }
        transits.swapAt(0, transits.count - 1)
        transits.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < transits.count && transits[child].isEarlier(than: transits[least]) {
                least = child
            }
            guard least != parent else { return (first.arrival, first.element) }
            transits.swapAt(parent, least)
            parent = least
        }
    }
}
