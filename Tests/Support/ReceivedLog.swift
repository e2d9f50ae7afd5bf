package import RTCSharePeerConnection
package import RTCShareTransport

/// Records the media that a connection receives from now on, in order of arrival, as the connection's consumer of
/// media.
package final class ReceivedLog: MediaConsumer, Sendable {
    package let frames: AsyncStream<(frame: AssembledFrame, receiver: Int)>
    package let sounds: AsyncStream<ReceivedAudioPacket>
    private let frameLog: AsyncStream<(frame: AssembledFrame, receiver: Int)>.Continuation
    private let soundLog: AsyncStream<ReceivedAudioPacket>.Continuation

    package init(_ connection: Connection) {
        (frames, frameLog) = AsyncStream.makeStream()
        (sounds, soundLog) = AsyncStream.makeStream()
        connection.setConsumer { self }
    }

    package func receive(_ received: PeerConnection.Received, from connection: isolated Connection) {
        switch received {
        case .frame(let frame, let index): frameLog.yield((frame, index))
        case .packet(let packet, _): soundLog.yield(packet)
        }
    }

    package func handle(_ event: PeerConnection.Event, from connection: isolated Connection) {}
    package func add(to report: inout StatisticsReport) {}

    package func finish() {
        frameLog.finish()
        soundLog.finish()
    }
}
