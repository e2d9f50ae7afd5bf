package import RTCSharePeerConnection
package import RTCShareRTP
internal import RTCShareSDP
package import RTCShareTransport
package import RTCShareWireFormat

/// A sender and a viewer that are connected over the loopback interface.
package struct ConnectedPair {
    package let sender: Connection
    package let viewer: Connection
    /// The feedback about the sender's media.
    package let feedback: FeedbackLog
    /// The media that the viewer receives.
    package let received: ReceivedLog
    package private(set) var senders: [LoggedSender] = []

    /// Connects a pair. The unused media have sections without senders. `rewriting` changes the viewer's answer.
    package init(
        _ media: [LocalIdentity.MediaKind], unused: [LocalIdentity.MediaKind] = [], maximumBitrate: DataRate? = nil,
        rewriting: (String) -> String = { $0 }
    ) async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        if let maximumBitrate { configuration.peer.maximumBitrate = maximumBitrate }
        sender = try await Connection(
            as: .offerer, identity: LocalIdentity(media: media + unused), configuration: configuration)
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

    /// Returns the next `count` audio packets.
    package func sounds(_ count: Int) async -> [ReceivedAudioPacket] {
        var sounds: [ReceivedAudioPacket] = []
        for await packet in received.sounds {
            sounds.append(packet)
            if sounds.count == count { break }
        }
        return sounds
    }

    /// Returns the frames up to the first for which `condition` holds.
    package func frames(until condition: (AssembledFrame) -> Bool) async -> [AssembledFrame] {
        var frames: [AssembledFrame] = []
        for await (frame, _) in received.frames {
            frames.append(frame)
            if condition(frame) { break }
        }
        return frames
    }

    /// Returns the first target bitrate of the sender's first media for which `condition` holds.
    package func target(_ condition: (DataRate) -> Bool) async -> DataRate? {
        for await (feedback, media) in feedback.stream {
            if case .target(let target) = feedback, media == 0, condition(target.bitrate) { return target.bitrate }
        }
        return nil
    }

    /// Returns the agreement on the sender's media of this index.
    package func agreement(media: Int) async -> SenderAgreement { await sender.agreement(of: senders[media]) }

    package func close() async {
        await sender.close()
        await viewer.close()
    }
}

/// Records the feedback of connections about senders, as it arrives.
package final class FeedbackLog: SenderOwner {
    package let stream: AsyncStream<(SenderFeedback, media: Int)>
    private let continuation: AsyncStream<(SenderFeedback, media: Int)>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func makeSender(over connection: Connection, media: [Int]) -> LoggedSender {
        LoggedSender(connection: connection, media: media[0], log: continuation)
    }
}

/// A sender whose feedback a ``FeedbackLog`` records.
package final class LoggedSender: RTPSender {
    package let connection: Connection
    package let media: Int
    private let log: AsyncStream<(SenderFeedback, media: Int)>.Continuation?

    package init(connection: Connection, media: Int, log: AsyncStream<(SenderFeedback, media: Int)>.Continuation? = nil)
    {
        self.connection = connection
        self.media = media
        self.log = log
    }

    package func receive(_ feedback: SenderFeedback) { _ = log?.yield((feedback, media)) }
}

extension Connection {
    /// Sends a frame to this connection's peer only.
    package nonisolated func send(_ frame: PacketizedFrame, media: Int) {
        Self.send(frame, through: [[LoggedSender(connection: self, media: media)]])
    }

    /// Sends a frame as the first media of these connections.
    package static func send(_ frame: PacketizedFrame, to connections: [Connection]) {
        let senders = connections.map { LoggedSender(connection: $0, media: 0) }
        send(frame, through: Array(Dictionary(grouping: senders, by: \.loop).values))
    }
}
