package import Dispatch

/// A value that is used on one serial queue alone, and checked to be each time.
package final class QueueBound<Value>: @unchecked Sendable {
    // Sendable: `bound` is reached through `value` alone, on a queue that does one thing at a time.
    package let queue: DispatchQueue
    private let bound: Value

    /// - Parameter queue: a serial one.
    package init(_ value: sending Value, to queue: DispatchQueue) {
        self.queue = queue
        bound = value
    }

    /// The value, for who is on its queue.
    package var value: Value {
        dispatchPrecondition(condition: .onQueue(queue))
        return bound
    }
}
