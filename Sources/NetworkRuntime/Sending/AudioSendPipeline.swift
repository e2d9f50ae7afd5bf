internal import Dispatch
internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareLocks
package import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareWireFormat

/// From a track's sound to any number of peers: one encode for all of them, on a queue of its own.
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
        var group: AudioEncodingGroup<RTPSender>
        var track: AudioTrack?
        var input: AudioSendInput?
        var isMuted = false
        var isStopped = false
        /// What takes each packet, beside those who are sent it.
        var recorder: TrackRecorder?

        /// What is played: nothing while nobody takes it.
        var playing: AudioTrack? { group.hasActive || recorder != nil ? track : nil }

        func sender(on connection: Connection) -> RTPSender? {
            group.senders.keys.first { $0.connection === connection }
        }
    }

    private let state: Locked<State>
    /// The track that is listened to. Held while that changes; never within ``state``.
    private let listening = Locked<AudioTrack?>(nil)
    private let worker = QueueBound(
        AudioSendWorker(), to: DispatchQueue(label: "rtcshare.audio-encoder", qos: .userInitiated))

    /// A pipeline without a track.
    package init(settings: Settings) {
        state = Locked(State(group: AudioEncodingGroup(wanted: settings)))
    }

    deinit {
        stop()
    }

    /// The track whose sound is sent.
    package var track: AudioTrack? { state.withLock { $0.track } }

    /// Sends this track's sound in place of what was before, in the same stream. Without a track, those who listen are told
    /// that the sound is gone.
    package func replaceTrack(with track: AudioTrack?) {
        state.withLock { if !$0.isStopped { $0.track = track } }
        listen()
        tellSending()
    }

    /// Has descriptions that are still to be made have a place for what begins, and for what is over none: what they agreed
    /// on is taken up again, or ended.
    private func tellSending() {
        state.withLock { state in
            guard !state.isStopped else { return }
            let isSending = state.track != nil
            for (sender, known) in state.group.senders where isSending || known.agreement.media == .agreed {
                sender.setSending(isSending)
            }
        }
    }

    /// Listens to the present track. Not on an event loop: a source may take a while to let go.
    private func listen() {
        listening.withLock { listening in
            let track = state.withLock { $0.playing }
            guard track !== listening else { return }
            listening = track
            let input = track.map { AudioSendInput(track: $0, pipeline: self) }
            let previous = state.withLock { state in
                state.isMuted = false
                defer { state.input = input }
                return state.input
            }
            if let previous { previous.track.remove(previous) }
            if let input { input.track.add(input) }
        }
        tellDemand()
    }

    /// Changes what is wanted of the running encoder.
    package func update(_ change: (inout Settings) -> Void) {
        state.withLock { change(&$0.group.wanted) }
        tellDemand()
    }

    fileprivate func muteDidChange(_ isMuted: Bool, of input: AudioSendInput) {
        state.withLock { if $0.input === input { $0.isMuted = isMuted } }
        tellDemand()
    }

    /// Tells a sender's connection, or each, what this would use of its path: nothing while there is nothing to play. In one
    /// piece with finding that out.
    private func tellDemand(of sender: RTPSender? = nil) {
        state.withLock { state in
            state.group.isPlaying = state.playing != nil && !state.isMuted
            for sender in sender.map({ [$0] }) ?? Array(state.group.senders.keys) {
                sender.setDemand(state.group.demand(of: sender))
            }
        }
    }

    /// Ends encoding.
    package func stop() {
        state.withLock { state in
            state.track = nil
            state.isStopped = true
        }
        listen()
    }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        state.withLock { state in
            state.sender(on: connection).map { state.group.senders[$0]?.agreement.media == .refused } ?? false
        }
    }

    /// Changes what is known of a sender, which it returns, and has what follows be done.
    private func change(_ body: (inout State) -> RTPSender?) {
        let (sender, isAnotherPlaying) = state.withLock { state in
            let before = state.playing
            let sender = body(&state)
            return (sender, state.playing !== before)
        }
        if isAnotherPlaying {
            DispatchQueue.global(qos: .userInitiated).async { [weak self] in self?.listen() }
        } else if let sender {
            tellDemand(of: sender)
        }
    }

    /// Takes a block on the source's thread, and leaves the work to the queue.
    fileprivate func receive(_ frame: AudioFrame, from input: AudioSendInput) {
        let now = CaptureClock.now
        worker.queue.async { [self] in
            let (isCurrent, group, recorder) = state.withLock { ($0.input === input, $0.group, $0.recorder) }
            guard isCurrent else { return }
            let worker = worker.value
            let recipients = group.recipients
            worker.configuration = group.configuration(for: recipients)
            worker.blockSize = group.blockSize(for: recipients)
            for encoded in worker.encode(frame, reset: worker.input !== input, now: now) {
                recorder?.receive(encoded)
                for sender in recipients { sender.connection.send(encoded, media: sender.media) }
            }
            worker.input = input
        }
    }
}

extension AudioSendPipeline: SendingPipeline {
    package func add(_ sender: RTPSender, isIncluded: Bool) {
        change { state in
            guard !state.isStopped else { return nil }
            if let old = state.sender(on: sender.connection) { state.group.remove(old) }
            state.group.add(sender, isIncluded: isIncluded)
            if !isIncluded { sender.setHeldBack(true) }
            // Descriptions that are still to be made have a place for it.
            if state.track != nil { sender.setSending(true) }
            return sender
        }
    }

    package func remove(_ connection: Connection) {
        change { state in
            guard let sender = state.sender(on: connection) else { return nil }
            sender.setDemand(.zero)
            state.group.remove(sender)
            return nil
        }
    }

    package func setIncluded(_ isIncluded: Bool, on connection: Connection) {
        change { state in
            guard let sender = state.sender(on: connection), state.group.senders[sender]?.isIncluded != isIncluded
            else { return nil }
            state.group.setIncluded(isIncluded, sender)
            sender.setHeldBack(!isIncluded)
            return sender
        }
    }

    package func sender(on connection: Connection) -> RTPSender? { state.withLock { $0.sender(on: connection) } }

    package func record(to source: RecordingSource, name: String, isMain: Bool) {
        let recorder = TrackRecorder(sound: source.sound(name: name, isMain: isMain))
        setRecorder(recorder, insteadOf: nil)
        source.recorder.onEnd { [weak self] in self?.setRecorder(nil, insteadOf: recorder) }
    }

    /// Records no more where it is not `current` that does.
    private func setRecorder(_ recorder: TrackRecorder?, insteadOf current: TrackRecorder?) {
        change { state in
            if !state.isStopped, current == nil || state.recorder === current { state.recorder = recorder }
            return nil
        }
    }

    package func receive(_ feedback: SenderFeedback, of sender: RTPSender) {
        switch feedback {
        case .negotiated(let agreement):
            change { state in
                state.group.negotiated(agreement, of: sender)
                return sender
            }
        case .target(let target): state.withLock { $0.group.targetChanged(target, of: sender) }
        case .lossReported(let share): state.withLock { $0.group.lossReported(share, of: sender) }
        case .keyFrameRequested, .away: return
        case .ended:
            change { state in
                state.group.remove(sender)
                return nil
            }
        }
    }
}

/// Stands between one track and the pipeline.
final class AudioSendInput: AudioSink {
    let track: AudioTrack
    private let pipeline: @Sendable () -> AudioSendPipeline?

    init(track: AudioTrack, pipeline: AudioSendPipeline) {
        self.track = track
        self.pipeline = { [weak pipeline] in pipeline }
    }

    func receive(_ frame: AudioFrame) { pipeline()?.receive(frame, from: self) }

    func muteDidChange(_ isMuted: Bool) { pipeline()?.muteDidChange(isMuted, of: self) }
}
