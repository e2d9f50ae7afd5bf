internal import RTCShareLocks

/// The isolation of all SDL windows: one thread, as SDL requires.
///
/// The thread sleeps if there is nothing to do. If there are windows, it waits for their events, and an alarm of the
/// executor ends that wait.
@globalActor
actor ViewActor {
    static let shared = ViewActor()
    static let executor = ThreadExecutor(named: "video window")

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}
