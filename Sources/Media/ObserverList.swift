internal import RTCShareLocks

/// A list of observers: any thread can add and remove them, and they are called one after the other, with no lock held.
///
/// The list holds weak references: an observer does not need to be removed, and is not called after its last other
/// reference has gone. An observer may add and remove others, and itself, while it is called.
package final class ObserverList<Observer: Sendable>: Sendable {
    private struct Reference {
        weak var object: AnyObject?

        func isOf(_ observer: Observer) -> Bool { object === observer as AnyObject }
    }

    private let references = Locked<[Reference]>([])

    /// Creates an empty list.
    package init() {}

    /// Adds an observer. Returns false if it was added before.
    @discardableResult
    package func add(_ observer: Observer) -> Bool {
        references.withLock { references in
            references.removeAll { $0.object == nil }
            guard !references.contains(where: { $0.isOf(observer) }) else { return false }
            references.append(Reference(object: observer as AnyObject))
            return true
        }
    }

    /// Removes an observer, which is not called again, except by a call on another thread that runs now.
    package func remove(_ observer: Observer) {
        references.withLock { $0.removeAll { $0.isOf(observer) } }
    }

    /// Calls `body` with each observer. Skips an observer that another one has removed in this round.
    package func forEach(_ body: (Observer) -> Void) {
        // Swift 6.3's optimizer specializes this for a final class. A cast of the optional then crashes if it is nil.
        let observers = references.withLock { $0.compactMap { $0.object.flatMap { $0 as? Observer } } }
        for observer in observers where contains(observer) { body(observer) }
    }

    private func contains(_ observer: Observer) -> Bool {
        references.withLock { $0.contains { $0.isOf(observer) } }
    }
}
