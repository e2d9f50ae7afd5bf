internal import RTCShareLocks

/// Those who are told something: added and removed from any thread, told one after the other with no lock held.
///
/// They are held weakly: whoever forgets to remove one leaves nothing behind, and one that nobody else has is told nothing.
/// Whoever is told may add and remove others, and itself, from where it is called.
package final class ObserverList<Observer: Sendable>: Sendable {
    private struct Reference {
        weak var object: AnyObject?

        func isOf(_ observer: Observer) -> Bool { object === observer as AnyObject }
    }

    private let references = Locked<[Reference]>([])

    /// Nobody.
    package init() {}

    /// Tells `observer` from now on; false where it is there already.
    @discardableResult
    package func add(_ observer: Observer) -> Bool {
        references.withLock { references in
            references.removeAll { $0.object == nil }
            guard !references.contains(where: { $0.isOf(observer) }) else { return false }
            references.append(Reference(object: observer as AnyObject))
            return true
        }
    }

    /// Tells `observer` nothing more; what it is being told on another thread at this moment is the last.
    package func remove(_ observer: Observer) {
        references.withLock { $0.removeAll { $0.isOf(observer) } }
    }

    /// Tells each of them. One that was removed by another in this round is passed over.
    package func forEach(_ body: (Observer) -> Void) {
        let observers = references.withLock { references in references.compactMap { $0.object as? Observer } }
        for observer in observers where contains(observer) { body(observer) }
    }

    private func contains(_ observer: Observer) -> Bool {
        references.withLock { $0.contains { $0.isOf(observer) } }
    }
}
