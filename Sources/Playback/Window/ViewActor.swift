internal import RTCShareLocks

/// Where everything of SDL's windows happens: one thread, as SDL asks. The compiler sees to it.
///
/// The thread rests where there is nothing to do. Where there are windows, it waits for their events, and an alarm of the
/// executor ends that wait.
@globalActor
actor ViewActor {
    static let shared = ViewActor()
    static let executor = ThreadExecutor(named: "video window")

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}
