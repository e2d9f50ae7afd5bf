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
        var input: AudioSendInput?
        var isMuted = false
        var isStopped = false
        /// What takes each packet, beside those who are sent it.
        var recorder: TrackRecorder?

        /// What is played: nothing while nobody takes it.
        var playing: AudioTrack? { group.hasViewer || recorder != nil ? track : nil }

        func sender(on connection: Connection) -> AudioSender? { group.senders[ObjectIdentifier(connection)] }
    }

    /// A block of a source.
    private struct Block: Sendable {
        let frame: AudioFrame
        let input: AudioSendInput
        let arrival: Duration
    }

    private enum Work: Sendable {
        case listen
        case encode(Block)
        /// Releases the track.
        case end(AudioSendInput?)
    }

    /// The work that waits for the thread.
    private struct Inbox {
        var blocks: [Block] = []
        /// Whether another track may have to be listened to.
        var isTrackOutdated = false
        var end: Work?

        /// Some seconds of blocks, after which the thread can't keep up.
        private static let maximumBlocks = 500

        mutating func append(_ block: Block) {
            if blocks.count < Self.maximumBlocks { blocks.append(block) }
        }

        /// A track goes before the blocks: of the track before, nothing more is sent.
        mutating func next() -> Work? {
            if let end { return end }
            if isTrackOutdated {
                isTrackOutdated = false
                return .listen
            }
            return blocks.isEmpty ? nil : .encode(blocks.removeFirst())
        }
    }

    private let state: Locked<State>
    private let inbox = Mailbox(Inbox())

    /// A pipeline without a track.
    package init(settings: Settings) throws(WorkerThreadError) {
        state = Locked(State(group: AudioEncodingGroup(wanted: settings)))
        let inbox = inbox
        _ = try WorkerThread(named: "audio encoder") { [weak self] in
            let worker = AudioSendWorker()
            while true {
                switch inbox.take({ $0.next().map { .done($0) } ?? .wait(until: nil) }) {
                case .listen: self?.listen()
                case .encode(let block): self?.encode(block, with: worker)
                case .end(let input):
                    if let input { input.track.remove(input) }
                    return
                }
            }
        }
    }

    deinit {
        stop()
    }

    /// The track whose sound is sent.
    package var track: AudioTrack? { state.withLock { $0.track } }

    /// Sends this track's audio in place of the track before, in the same stream. Without a track, viewers are told that the
    /// audio is gone. The thread soon adds its sink to the track and removes it from the one before, whose audio is not sent any more.
    package func replaceTrack(with track: AudioTrack?) {
        let before = state.withLock { state -> AudioTrack? in
            guard !state.isStopped else { return nil }
            for sender in state.group.senders.values { sender.setSending(track != nil) }
            defer { state.track = track }
            return state.track
        }
        inbox.post { $0.isTrackOutdated = true }
        // A track that nobody else has calls its source when it is released.
        withExtendedLifetime(before) {}
    }

    /// Listens to the present track. On the thread: a source may take a while to release a sink.
    private func listen() {
        let (previous, next) = state.withLock { state -> (AudioSendInput?, AudioSendInput?) in
            let (track, previous) = (state.playing, state.input)
            guard track !== previous?.track else { return (nil, nil) }
            state.isMuted = false
            state.input = track.map { AudioSendInput(track: $0, pipeline: self) }
            return (previous, state.input)
        }
        if let previous { previous.track.remove(previous) }
        if let next { next.track.add(next) }
        updateDemand()
    }

    /// Changes what is wanted of the running encoder.
    package func update(_ change: (inout Settings) -> Void) {
        state.withLock { change(&$0.group.wanted) }
        updateDemand()
    }

    fileprivate func muteDidChange(_ isMuted: Bool, of input: AudioSendInput) {
        state.withLock { if $0.input === input { $0.isMuted = isMuted } }
        updateDemand()
    }

    /// Sets the demand of some senders, or of all. Finds out and posts it under one lock, so that the latest one holds.
    private func updateDemand(of senders: [AudioSender]? = nil) {
        state.withLock { state in
            state.group.isPlaying = state.playing != nil && !state.isMuted
            for sender in senders ?? Array(state.group.senders.values) {
                sender.setDemand(state.group.demand(of: sender))
            }
        }
    }

    /// Ends encoding. The thread releases the track soon after.
    package func stop() {
        let (input, track) = state.withLock { state in
            state.isStopped = true
            return (state.input.take(), state.track.take())
        }
        inbox.post { if $0.end == nil { $0.end = .end(input) } }
        updateDemand()
        withExtendedLifetime(track) {}
    }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        state.withLock { state in
            state.sender(on: connection)?.state.agreement.media == .refused
        }
    }

    /// Changes what is known of senders, which it returns, and does what follows.
    private func change(_ body: (inout State) -> [AudioSender]) {
        let (senders, isAnotherPlaying) = state.withLock { state in
            let before = state.playing
            let senders = body(&state)
            return (senders, state.playing !== before)
        }
        if isAnotherPlaying {
            inbox.post { $0.isTrackOutdated = true }
        } else if !senders.isEmpty {
            updateDemand(of: senders)
        }
    }

    /// Takes a block on the source's thread, and leaves the work to the encoder's.
    fileprivate func receive(_ frame: AudioFrame, from input: AudioSendInput) {
        let block = Block(frame: frame, input: input, arrival: CaptureClock.now)
        inbox.post { $0.append(block) }
    }

    private func encode(_ block: Block, with worker: AudioSendWorker) {
        let order = state.withLock { state in
            state.input === block.input
                ? (state.group.configuration, state.group.blockSize, state.group.recipients, state.recorder) : nil
        }
        guard let (configuration, blockSize, recipients, recorder) = order else { return }
        (worker.configuration, worker.blockSize) = (configuration, blockSize)
        for encoded in worker.encode(block.frame, reset: worker.input !== block.input, now: block.arrival) {
            recorder?.receive(encoded)
            Connection.send(encoded, through: recipients)
        }
        worker.input = block.input
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
        case .target(let target): state.withLock { $0.group.targetChanged(target, of: sender) }
        case .lossReported(let share): state.withLock { $0.group.lossReported(share, of: sender) }
        case .keyFrameRequested, .unresponsive: return
        case .ended:
            change { state in
                state.group.remove(sender)
                return []
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
