internal import Synchronization

/// Observers that are told one after the other, with no lock held.
final class ObserverList<Observer: Sendable>: Sendable {
    private let observers = Mutex<[Observer]>([])

    /// Tells `observer` from now on; one that is already there is not added again.
    func add(_ observer: Observer) {
        observers.withLock { observers in
            guard !observers.contains(where: { $0 as AnyObject === observer as AnyObject }) else { return }
            observers.append(observer)
        }
    }

    /// Tells `observer` nothing more.
    func remove(_ observer: Observer) {
        observers.withLock { $0.removeAll { $0 as AnyObject === observer as AnyObject } }
    }

    /// Tells each of them.
    func forEach(_ body: (Observer) -> Void) {
        for observer in observers.withLock({ $0 }) { body(observer) }
    }
}
