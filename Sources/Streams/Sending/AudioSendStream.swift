internal import NIOCore
package import RTCShareLocks
package import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareTransport
package import RTCShareWireFormat

/// Encodes a track's audio once, and sends it to any number of peers.
///
///     track ─▶ encoder's thread: 48 kHz, 20 ms blocks, Opus ─▶ home loop ─▶ each connection's event loop
///
/// It belongs to one event loop, its home, like ``VideoSendStream``. Calls of its owner, packets of the encoder and
/// reports of connections are processed there, in order. The track can be replaced at any time. Without receivers,
/// nothing is captured. `AudioEncodingGroup` determines the active senders, and the encoding.
package actor AudioSendStream {
    /// The settings that the owner wants, before the peers' limits.
    package struct Settings: Sendable, Hashable {
        /// Whether it is speech: then it is mono, and pauses are not sent.
        package var isVoice: Bool
        /// The maximum bitrate of the stream.
        package var bitrate: DataRate

        /// Creates settings, by default of 32 kbit/s for speech, 128 kbit/s otherwise.
        package init(isVoice: Bool, bitrate: DataRate? = nil) {
            self.isVoice = isVoice
            self.bitrate = bitrate ?? .kilobitsPerSecond(isVoice ? 32 : 128)
        }
    }

    nonisolated let eventLoop: any EventLoop
    private let shared = SharedSenders<AudioSender, AudioTrack>()
    private let encoder: AudioEncoder
    private(set) var group: AudioEncodingGroup<AudioSender>
    /// The track that the owner set, in the order of all its calls.
    private var given: AudioTrack?
    /// The track of the encoder.
    private(set) var playing: AudioTrack?
    private var isMuted = false
    /// The recorder that receives each packet, in addition to the viewers.
    private var recorder: TrackRecorder<[UInt8]>?

    /// The executor of the home event loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// Creates a stream without a track.
    package init(settings: Settings, home: HomeLoop = HomeLoop()) throws(WorkerThreadError) {
        eventLoop = home.eventLoop
        group = AudioEncodingGroup(wanted: settings)
        encoder = try AudioEncoder(group.order)
    }

    /// Runs `body` on the home event loop, after everything that this thread posted before.
    private nonisolated func post(_ body: @escaping @Sendable (isolated AudioSendStream) -> Void) {
        eventLoop.execute { self.assumeIsolated(body) }
    }

    // MARK: The track

    /// The track whose audio is sent.
    package nonisolated var track: AudioTrack? { shared.track }

    /// Sends this track's audio instead of the previous track's, in the same stream. Without a track, viewers are
    /// notified that the audio has ended. The encoder's thread adds its sink to the track soon after this returns, and
    /// removes it from the previous one.
    package nonisolated func replaceTrack(with track: AudioTrack?) {
        guard shared.replaceTrack(with: track) else { return }
        post { stream in
            stream.given = track
            stream.change()
        }
    }

    /// Sets the encoder's track to the current one, or to none while nobody receives it. Returns whether it has
    /// changed.
    private func play() -> Bool {
        let track = group.hasViewer || recorder != nil ? given : nil
        guard track !== playing else { return false }
        playing = track
        isMuted = false
        encoder.replaceTrack(with: track) { [weak self] frame in
            self?.post { $0.send(frame, of: track) }
        } onMute: { [weak self] isMuted in
            self?.post { $0.muteDidChange(isMuted, of: track) }
        }
        return true
    }

    private func muteDidChange(_ isMuted: Bool, of track: AudioTrack?) {
        guard track === playing else { return }
        self.isMuted = isMuted
        updateDemand()
    }

    /// Changes the settings of the running encoder.
    package nonisolated func update(_ body: @escaping @Sendable (inout Settings) -> Void) {
        post { stream in
            stream.change { body(&$0.wanted) }
            stream.updateDemand()
        }
    }

    /// Ends encoding. The encoder's thread ends soon after, and removes its sink from the track.
    package nonisolated func stop() {
        shared.stop()
        post { stream in
            stream.given = nil
            stream.change()
            stream.encoder.end()
        }
    }

    // MARK: The senders

    /// Returns whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        group.senders[ObjectIdentifier(connection)]?.state.agreement.media == .refused
    }

    /// Changes the group, and then the encoder's track and parameters accordingly.
    private func change(_ body: (inout AudioEncodingGroup<AudioSender>) -> Void = { _ in }) {
        body(&group)
        encoder.apply(group.order)
        if play() { updateDemand() }
    }

    /// Sets the demand of some senders, or of all.
    private func updateDemand(of senders: [AudioSender]? = nil) {
        group.isPlaying = playing != nil && !isMuted
        for sender in senders ?? Array(group.senders.values) { sender.setDemand(group.demand(of: sender)) }
    }

    /// The number of viewers up to which each report changes the encoder's parameters at once. With more, whose
    /// bitrates change all the time, all reports between two packets are processed together, because each time all
    /// viewers are evaluated.
    private static let largestSmallRoom = 16
    private var isRoomLarge: Bool { group.senders.count > Self.largestSmallRoom }

    /// Sends a packet of this track to its receivers.
    private func send(_ frame: EncodedAudioFrame, of track: AudioTrack?) {
        // The track may have changed since.
        guard track === playing else { return }
        recorder?.receive(frame)
        Connection.send(frame, through: group.recipients)
        if isRoomLarge { encoder.apply(group.order) }
    }
}

extension AudioSendStream: SendingStream {
    package nonisolated func makeSender(over connection: Connection, media: [Int]) -> AudioSender {
        AudioSender(connection: connection, media: media[0], stream: self)
    }

    package nonisolated func add(_ sender: AudioSender, isActive: Bool) {
        guard sender.connection.assumeIsolated({ shared.add(sender, isActive: isActive, on: $0) }) else { return }
        post { stream in
            // Its connection may have ended since.
            guard stream.shared.contains(sender) else { return }
            stream.change { group in
                if let old = group.senders[sender.id] { group.remove(old) }
                group.add(sender, isActive: isActive)
            }
        }
    }

    package nonisolated func remove(_ connection: Connection) {
        guard let sender = shared.remove(connection) else { return }
        post { stream in
            sender.setDemand(.zero)
            stream.change { $0.remove(sender) }
        }
    }

    package nonisolated func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool) {
        post { stream in
            let changed = stream.group.senders.values.filter {
                $0.state.isActive ? !connections.contains($0.id) : adding && connections.contains($0.id)
            }
            stream.toggle(changed)
        }
    }

    package nonisolated func setActive(_ isActive: Bool, on connection: Connection) {
        post { [id = ObjectIdentifier(connection)] stream in
            guard let sender = stream.group.senders[id], sender.state.isActive != isActive else { return }
            stream.toggle([sender])
        }
    }

    private func toggle(_ senders: [AudioSender]) {
        guard !senders.isEmpty else { return }
        change { group in
            for sender in senders {
                // Held back, it keeps its place in the descriptions.
                sender.setHeldBack(sender.state.isActive)
                group.setActive(!sender.state.isActive, sender)
            }
        }
        updateDemand(of: senders)
    }

    package nonisolated func sender(on connection: Connection) -> AudioSender? { shared.sender(on: connection) }

    package nonisolated func record(to source: RecordingSource, name: String, isMain: Bool) {
        let recorder = TrackRecorder(source.sound(name: name, isMain: isMain))
        post { $0.setRecorder(recorder) }
        source.recorder.onEnd { [weak self] in
            self?.post { if $0.recorder === recorder { $0.setRecorder(nil) } }
        }
    }

    private func setRecorder(_ recorder: TrackRecorder<[UInt8]>?) {
        self.recorder = recorder
        change()
    }

    /// Receives a report of a sender's connection, on the connection's event loop.
    nonisolated func receive(_ feedback: SenderFeedback, of sender: AudioSender) {
        if case .ended = feedback { shared.connectionEnded(of: sender) }
        guard eventLoop.inEventLoop else { return post { $0.handle(feedback, of: sender) } }
        assumeIsolated { $0.handle(feedback, of: sender) }
    }

    private func handle(_ feedback: SenderFeedback, of sender: AudioSender) {
        switch feedback {
        case .negotiated(let agreement):
            change { $0.negotiated(agreement, of: sender) }
            updateDemand(of: [sender])
        case .target(let target):
            group.targetChanged(target, of: sender)
            if !isRoomLarge { encoder.apply(group.order) }
        case .lossReported(let share):
            group.lossReported(share, of: sender)
            if !isRoomLarge { encoder.apply(group.order) }
        case .keyFrameRequested, .unresponsive: return
        case .ended: change { $0.remove(sender) }
        }
    }
}
