internal import PeerConnection

extension VideoSendPipeline {
    /// Shares over one connection, whose answer was accepted, until the peer says goodbye, the source runs out or the
    /// task is cancelled; then says goodbye, and closes the connection and the pipeline.
    ///
    /// It reads the connection's events. To share over several connections, or to do more with their events, attach
    /// each with ``attach(_:)`` and follow them.
    ///
    /// Throws a ``ConnectionError`` where the connection failed, and what ended the source where that failed.
    public func share(over connection: Connection) async throws {
        attach(connection)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.follow(connection) }
                group.addTask {
                    for await error in self.end {
                        if let error { throw error }
                        return
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            await finish(connection)
            throw error
        }
        await finish(connection)
    }

    /// Does what the peer asks for until it leaves.
    private func follow(_ connection: Connection) async throws {
        for await event in connection.events {
            switch event {
            case .connected:
                keep(to: await connection.sendingLimits)
                try start()
                requestKeyFrame()
            case .keyFrameRequested, .reconnected: requestKeyFrame()
            case .closedByPeer: return
            case .failed(let failure): throw await ConnectionError(failure, on: connection)
            case .disconnected, .gatheringComplete, .frame: continue
            }
        }
    }

    private func finish(_ connection: Connection) async {
        stop()
        await connection.drainQueue()
        detach(connection)
        await connection.close()
    }
}
