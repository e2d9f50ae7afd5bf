import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import Testing

@testable import RTCShareNetworkRuntime

/// A sender and a viewer that are connected over the loopback interface.
struct ConnectedPair {
    let sender: Connection
    let viewer: Connection
    /// What is said of the sender's media.
    let feedback: FeedbackLog
    /// What the viewer receives.
    let received: ReceivedLog
    private(set) var senders: [LoggedSender] = []

    /// With `rewriting`, the viewer's answer is another one than it gave.
    init(
        _ media: [LocalIdentity.MediaKind], rewriting: (String) -> String = { $0 }
    ) async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        sender = try await Connection(
            as: .offerer, identity: LocalIdentity(media: media), configuration: configuration)
        viewer = try await Connection(
            as: .answerer, identity: LocalIdentity(media: []), configuration: configuration)
        received = ReceivedLog(viewer)
        feedback = FeedbackLog()
        for kind in media { senders.append(try await sender.sender(of: kind, for: feedback, atMost: media.count)) }
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: offer).description
        try await sender.accept(answer: SessionDescription.parse(rewriting(answer)), to: offer)
        for await signal in sender.signals {
            if case .state(.connected) = signal { break }
        }
    }

    /// The next `count` packets of sound.
    func sounds(_ count: Int) async -> [ReceivedAudioPacket] {
        var sounds: [ReceivedAudioPacket] = []
        for await packet in received.sounds {
            sounds.append(packet)
            if sounds.count == count { break }
        }
        return sounds
    }

    /// The frames up to the first for which `condition` holds.
    func frames(until condition: (AssembledFrame) -> Bool) async -> [AssembledFrame] {
        var frames: [AssembledFrame] = []
        for await (frame, _) in received.frames {
            frames.append(frame)
            if condition(frame) { break }
        }
        return frames
    }

    /// The first bitrate told of the sender's first media for which `condition` holds.
    func target(_ condition: (DataRate) -> Bool) async -> DataRate? {
        for await (feedback, media) in feedback.stream {
            if case .target(let target) = feedback, media == 0, condition(target.bitrate) { return target.bitrate }
        }
        return nil
    }

    /// What the descriptions say of the sender's media of this index.
    func agreement(media: Int) async -> SenderAgreement { await sender.agreement(of: senders[media]) }

    func close() async {
        await sender.close()
        await viewer.close()
    }
}

/// What connections say of senders, as it comes.
final class FeedbackLog: SenderOwner {
    let stream: AsyncStream<(SenderFeedback, media: Int)>
    private let continuation: AsyncStream<(SenderFeedback, media: Int)>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func makeSender(over connection: Connection, media: Int) -> LoggedSender {
        LoggedSender(connection: connection, media: media, log: continuation)
    }
}

/// A sender of which a ``FeedbackLog`` is kept.
final class LoggedSender: RTPSender {
    let connection: Connection
    let media: Int
    private let log: AsyncStream<(SenderFeedback, media: Int)>.Continuation?

    init(connection: Connection, media: Int, log: AsyncStream<(SenderFeedback, media: Int)>.Continuation? = nil) {
        self.connection = connection
        self.media = media
        self.log = log
    }

    func receive(_ feedback: SenderFeedback) { _ = log?.yield((feedback, media)) }
}

extension Connection {
    /// Sends a frame to this connection's peer only.
    nonisolated func send(_ frame: PacketizedFrame, media: Int) {
        Self.send(frame, through: [[LoggedSender(connection: self, media: media)]])
    }

    /// Sends a frame as the first media of these connections.
    static func send(_ frame: PacketizedFrame, to connections: [Connection]) {
        let senders = connections.map { LoggedSender(connection: $0, media: 0) }
        send(frame, through: Array(Dictionary(grouping: senders, by: \.loop).values))
    }
}
