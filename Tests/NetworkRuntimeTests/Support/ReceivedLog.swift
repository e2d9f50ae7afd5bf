import RTCSharePeerConnection

@testable import RTCShareNetworkRuntime

/// What a connection receives from now on, in the order of arrival. It is the reader of the connection's media.
final class ReceivedLog: Sendable {
    let frames: AsyncStream<(frame: AssembledFrame, receiver: Int)>
    let sounds: AsyncStream<ReceivedAudioPacket>

    init(_ connection: Connection) {
        let (frames, frameLog) = AsyncStream.makeStream(of: (frame: AssembledFrame, receiver: Int).self)
        let (sounds, soundLog) = AsyncStream.makeStream(of: ReceivedAudioPacket.self)
        self.frames = frames
        self.sounds = sounds
        let media = connection.receiveMedia()
        Task {
            var known: Set<ObjectIdentifier> = []
            for await event in media {
                switch event {
                case .frameSizeChanged(_, let receiver) where known.insert(ObjectIdentifier(receiver)).inserted:
                    receiver.record { frameLog.yield(($0, receiver.index)) }
                    receiver.announced()
                case .soundBegan(let receiver):
                    receiver.record { soundLog.yield($0) }
                    receiver.announced()
                default: continue
                }
            }
            frameLog.finish()
            soundLog.finish()
        }
    }
}
