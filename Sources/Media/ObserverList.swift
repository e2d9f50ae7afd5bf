internal import RTCShareLocks

/// Those who are told something: added and removed from any thread, told one after the other with no lock held.
///
/// Whoever is told may add and remove others, and itself, from where it is called.
package final class ObserverList<Observer: Sendable>: Sendable {
    private let observers = Locked<[Observer]>([])

    /// Nobody.
    package init() {}

    /// Whether there is nobody.
    package var isEmpty: Bool { observers.withLock { $0.isEmpty } }

    /// Tells `observer` from now on; false where it is there already.
    @discardableResult
    package func add(_ observer: Observer) -> Bool {
        observers.withLock { observers in
            guard !observers.contains(where: { $0 as AnyObject === observer as AnyObject }) else { return false }
            observers.append(observer)
            return true
        }
    }

    /// Tells `observer` nothing more; what it is being told on another thread at this moment is the last.
    package func remove(_ observer: Observer) {
        observers.withLock { $0.removeAll { $0 as AnyObject === observer as AnyObject } }
    }

    /// Tells each of them. One that was removed by another in this round is passed over.
    package func forEach(_ body: (Observer) -> Void) {
        for observer in observers.withLock({ $0 }) where contains(observer) { body(observer) }
    }

    private func contains(_ observer: Observer) -> Bool {
        observers.withLock { $0.contains { $0 as AnyObject === observer as AnyObject } }
    }
}
