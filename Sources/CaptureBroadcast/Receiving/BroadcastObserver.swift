import Synchronization

/// An observer of the connections of capturing processes, which is called sequentially.
public protocol BroadcastObserver: AnyObject, Sendable {
    /// Called when a capturing process was admitted; its frames follow.
    func broadcastDidStart(transport: BroadcastTransport)
    /// Called when the connection of the capturing process ended; `reason` is for people. Another can connect.
    func broadcastDidFinish(reason: String)
    /// Called when a process was not admitted.
    func broadcastDidFail(error: BroadcastError)
}

extension BroadcastObserver {
    /// Does nothing.
    public func broadcastDidStart(transport: BroadcastTransport) {}
    /// Does nothing.
    public func broadcastDidFinish(reason: String) {}
    /// Does nothing.
    public func broadcastDidFail(error: BroadcastError) {}
}
