internal import RTCShareAudioCoding
package import RTCShareLocks
package import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareWireFormat

/// From a track's sound to any number of peers: one encode for all of them, on a thread of its own.
///
///     track ─▶ 48 kHz, 20 ms blocks ─▶ Opus ─▶ each connection's event loop
package final class AudioSendPipeline: Sendable {
    /// What is wanted of the encoder, before the peers' limits.
    package struct Settings: Sendable, Hashable {
        /// Whether it is speech: then mono, with pauses left unsent.
        package var isVoice: Bool
        /// What the stream may take.
        package var bitrate: DataRate

        /// By default 32 kbit/s for speech, 128 kbit/s for whatever a machine plays.
        package init(isVoice: Bool, bitrate: DataRate? = nil) {
            self.isVoice = isVoice
            self.bitrate = bitrate ?? .kilobitsPerSecond(isVoice ? 32 : 128)
        }
    }

    private struct State {
        var group: AudioEncodingGroup<AudioSender>
        var track: AudioTrack?
        /// What the encoder was given.
        var playing: AudioTrack?
        var isMuted = false
        var isStopped = false
        /// What takes each packet, beside those who are sent it.
        var recorder: TrackRecorder?

        func sender(on connection: Connection) -> AudioSender? { group.senders[ObjectIdentifier(connection)] }
    }

    private let state: Locked<State>
    private let encoder: AudioEncoder

    /// A pipeline without a track.
    package init(settings: Settings) throws(WorkerThreadError) {
        let group = AudioEncodingGroup<AudioSender>(wanted: settings)
        encoder = try AudioEncoder(group.order)
        state = Locked(State(group: group))
    }

    deinit {
        stop()
    }

    /// The track whose sound is sent.
    package var track: AudioTrack? { state.withLock { $0.track } }

    /// Sends this track's audio in place of the track before, in the same stream. Without a track, viewers are told that the
    /// audio is gone. The thread soon adds its sink to the track and removes it from the one before, whose audio is not sent any more.
    package func replaceTrack(with track: AudioTrack?) {
        var before: AudioTrack?
        change { state in
            guard !state.isStopped else { return [] }
            for sender in state.group.senders.values { sender.setSending(track != nil) }
            // A track that nobody else has calls its source when it is released.
            before = state.track
            state.track = track
            return []
        }
        withExtendedLifetime(before) {}
    }

    /// Gives the encoder the present track, or none while nobody takes it; returns whether that is another than before.
    private func listen(_ state: inout State) -> Bool {
        let track = state.group.hasViewer || state.recorder != nil ? state.track : nil
        guard track !== state.playing else { return false }
        state.playing = track
        state.isMuted = false
        guard let track else {
            encoder.replaceTrack(with: nil)
            return true
        }
        encoder.replaceTrack(with: track) { [weak self] frame in
            self?.send(frame, of: track)
        } onMute: { [weak self] isMuted in
            self?.muteDidChange(isMuted, of: track)
        }
        return true
    }

    /// Changes what is wanted of the running encoder.
    package func update(_ body: (inout Settings) -> Void) {
        change { state in
            body(&state.group.wanted)
            return Array(state.group.senders.values)
        }
    }

    private func muteDidChange(_ isMuted: Bool, of track: AudioTrack) {
        change { state in
            guard state.playing === track else { return [] }
            state.isMuted = isMuted
            return Array(state.group.senders.values)
        }
    }

    /// Ends encoding. The thread releases the track soon after.
    package func stop() {
        var track: AudioTrack?
        change { state in
            state.isStopped = true
            track = state.track.take()
            return []
        }
        encoder.end()
        withExtendedLifetime(track) {}
    }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        state.withLock { state in
            state.sender(on: connection)?.state.agreement.media == .refused
        }
    }

    /// Changes what is known of senders, which it returns, and does what follows, under one lock, so that the latest change holds.
    private func change(_ body: (inout State) -> [AudioSender] = { _ in [] }) {
        state.withLock { state in
            let senders = body(&state)
            let isAnother = listen(&state)
            encoder.apply(state.group.order)
            state.group.isPlaying = state.playing != nil && !state.isMuted
            for sender in isAnother ? Array(state.group.senders.values) : senders {
                sender.setDemand(state.group.demand(of: sender))
            }
        }
    }

    /// Sends a packet of this track to those who are sent it.
    private func send(_ encoded: EncodedAudioFrame, of track: AudioTrack) {
        let (recipients, recorder) = state.withLock { state in
            state.playing === track ? (state.group.recipients, state.recorder) : ([], nil)
        }
        recorder?.receive(encoded)
        Connection.send(encoded, through: recipients)
    }
}

extension AudioSendPipeline: SendingPipeline {
    package func makeSender(over connection: Connection, media: Int) -> AudioSender {
        AudioSender(connection: connection, media: media, pipeline: self)
    }

    package func add(_ sender: AudioSender, isActive: Bool) {
        change { state in
            guard !state.isStopped else { return [] }
            if let old = state.sender(on: sender.connection) { state.group.remove(old) }
            state.group.add(sender, isActive: isActive)
            if !isActive { sender.setHeldBack(true) }
            // Descriptions that are still to be made have a place for it.
            if state.track != nil { sender.setSending(true) }
            return [sender]
        }
    }

    package func remove(_ connection: Connection) {
        change { state in
            guard let sender = state.sender(on: connection) else { return [] }
            sender.setDemand(.zero)
            state.group.remove(sender)
            return []
        }
    }

    package func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool) {
        change { state in
            let senders = state.group.senders.values.filter {
                $0.state.isActive ? !connections.contains($0.id) : adding && connections.contains($0.id)
            }
            for sender in senders {
                let isActive = !sender.state.isActive
                state.group.setActive(isActive, sender)
                sender.setHeldBack(!isActive)
            }
            return senders
        }
    }

    package func sender(on connection: Connection) -> AudioSender? { state.withLock { $0.sender(on: connection) } }

    package func record(to source: RecordingSource, name: String, isMain: Bool) {
        let recorder = TrackRecorder(sound: source.sound(name: name, isMain: isMain))
        change { state in
            state.recorder = recorder
            return []
        }
        source.recorder.onEnd { [weak self] in
            self?.change { state in
                if state.recorder === recorder { state.recorder = nil }
                return []
            }
        }
    }

    /// Takes what a sender's connection reports, on the connection's event loop.
    func receive(_ feedback: SenderFeedback, of sender: AudioSender) {
        switch feedback {
        case .negotiated(let agreement):
            change { state in
                state.group.negotiated(agreement, of: sender)
                return [sender]
            }
        case .target(let target):
            change { state in
                state.group.targetChanged(target, of: sender)
                return []
            }
        case .lossReported(let share):
            change { state in
                state.group.lossReported(share, of: sender)
                return []
            }
        case .keyFrameRequested, .unresponsive: return
        case .ended:
            change { state in
                state.group.remove(sender)
                return []
            }
        }
    }
}
