internal import Glibc
internal import RTCShareMedia

/// A thread that encodes or decodes. It is detached: its end is told by the state that it shares with its owner.
package final class CodingThread: Sendable {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// Runs `body` on a new thread.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(VideoCodingError) {
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(CodingThread(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<CodingThread>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            retained.release()
            throw .threadFailed(reason: systemMessage(code))
        }
        pthread_detach(thread)
    }
}
