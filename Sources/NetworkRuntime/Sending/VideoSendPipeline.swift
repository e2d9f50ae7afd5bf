package import Logging
internal import NIOCore
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// From a track to any number of peers: one encode, one cut into packets, for all of them.
///
///     track ─▶ slot of the newest frame ─▶ encoder's thread ─▶ packets ─▶ each connection's event loop
///
/// The encoder never makes the source or the network wait. The track can be replaced while it runs; while nobody takes it,
/// nothing is captured. Senders forward the feedback of their connections to this pipeline. `EncodingGroup` decides which sender
/// is sent which encoding, and what each is made at. The pipeline carries that out.
package final class VideoSendPipeline: Sendable {
    /// What happens to what is sent.
    package enum Event: Sendable {
        /// The first frame of this track has left the encoder.
        case began(VideoTrack)
        /// The present track holds its pictures back, or gives them again: its `isMuted` says which.
        case muteChanged
        /// The present track has nothing more to give: with an error where that was not asked for. The last picture
        /// stays with the viewers.
        case ended((any Error)?)
        /// A frame could not be encoded. The next one is tried.
        case failed(VideoCodingError)
        /// There is somebody who takes it, or nobody any more, or all decline it: ``hasViewer`` and ``isRefused`` say.
        case audienceChanged
    }

    /// Who takes what is sent.
    private struct Audience: Equatable {
        var hasViewer = false
        var isRefused = false
    }

    private struct State {
        var group: EncodingGroup<VideoSender>
        var encodings: [Int: Encoding] = [:]
        var track: VideoTrack?
        var sourceCanWait = false
        var audience = Audience()
        /// What the encoders were given.
        var shown: VideoTrack?
        /// Whether a frame of that was sent.
        var hasBegun = false
        /// What takes the frames of encoding 0, beside those who are sent it.
        var recorder: TrackRecorder?
        var isMuted = false
        /// The last picture is sent once more although the track is muted.
        var isRepeated = false
        var isStopped = false
        /// Whether the encoders are brought to what the paths have now in a moment.
        var followsSoon = false

        func sender(on connection: Connection) -> VideoSender? { group.senders[ObjectIdentifier(connection)] }

        /// Whether there is anybody, or anything, that takes what is shown.
        var isTaken: Bool { audience.hasViewer || recorder != nil }
        /// Whether nothing is encoded because the track is muted.
        var isHeldBack: Bool { isMuted && !isRepeated }

        func muteEncoders() {
            for encoding in encodings.values { encoding.encoder.setMuted(isHeldBack) }
        }
    }

    private let state: Locked<State>
    private let logger: Logger
    private let continuation: AsyncStream<Event>.Continuation
    /// What happens, in order. One reader. Ends with ``stop()``.
    package let events: AsyncStream<Event>

    /// A pipeline without a track. Where a path has less than all that is sent there would use, `priority` says who goes
    /// first. What is to be said of the encoder goes to the logger of a viewer's connection, and to `logger` while there is no
    /// viewer.
    package init(
        settings: VideoEncoder.Settings, priority: BitratePriority = .medium,
        logger: Logger = Logger(label: "rtcshare.sending")
    ) throws(VideoCodingError) {
        self.logger = logger
        // Who reads late, or never, has missed what is long past.
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(32))
        state = Locked(State(group: EncodingGroup(wanted: settings, priority: priority)))
        let first = try makeEncoding(0, settings: settings)
        state.withLock { $0.encodings = [0: first] }
    }

    deinit {
        stop()
    }

    private func makeEncoding(
        _ index: Int, settings: VideoEncoder.Settings
    ) throws(VideoCodingError) -> Encoding {
        let continuation = continuation
        return try Encoding(index: index, settings: settings) { [weak self] frame, isBlurred, source in
            self?.send(frame, isBlurred: isBlurred, of: source)
        } onEvent: { [weak self] event in
            switch event {
            case .failed(let error): continuation.yield(.failed(error))
            case .drifted:
                self?.presentLogger.warning(
                    "after a partial update, viewers had another picture than the encoder: a key frame follows"
                )
            // The others hear of it too.
            case .sourceEnded(let error): if index == 0 { continuation.yield(.ended(error)) }
            }
        }
    }

    /// Where it is said what happens to the encoders: with no viewer a recorder may be who takes what they make.
    private var presentLogger: Logger { state.withLock { $0.group.senders.values.first }?.connection.logger ?? logger }

    // MARK: The track

    /// The track whose pictures are sent.
    package var track: VideoTrack? { state.withLock { $0.track } }

    /// Whether that track has given a picture, also where no path had room for it yet.
    package var hasPicture: Bool { state.withLock { $0.encodings.values.contains(where: \.encoder.hasPicture) } }

    /// Sends this track's pictures in place of those before, in the same stream, without a new description (W3C webrtc
    /// `replaceTrack`), from a key frame on. Without a track, viewers are told that the picture is gone. With
    /// `sourceCanWait`, the source is held up while the encoder is busy, and none of its frames is replaced by a newer one.
    /// The encoders' threads add their sinks to the track soon after this returns, and remove those of the one before.
    package func replaceTrack(with track: VideoTrack?, sourceCanWait: Bool = false) {
        change { state in
            guard !state.isStopped else { return }
            state.track = track
            state.sourceCanWait = sourceCanWait
        }
        tellSending()
    }

    /// Has descriptions that are still to be made have a place for what begins, and for what is over none: what they agreed
    /// on is taken up again, or ended.
    private func tellSending() {
        state.withLock { state in
            guard !state.isStopped else { return }
            let isSending = state.track != nil
            for sender in state.group.senders.values where isSending || sender.state.agreement.media == .agreed {
                sender.setSending(isSending)
            }
        }
    }

    /// Gives the encoders the present track, or none while nobody takes it; returns whether that is another than before.
    private func show(_ state: inout State) -> Bool {
        let track = state.isTaken ? state.track : nil
        guard track !== state.shown else { return false }
        state.shown = track
        state.hasBegun = false
        state.isMuted = false
        state.isRepeated = false
        for encoding in state.encodings.values { show(track, in: encoding, &state) }
        return true
    }

    private func show(_ track: VideoTrack?, in encoding: Encoding, _ state: inout State) {
        guard let track else { return encoding.encoder.show(nil) }
        // The first encoding may make the source wait; the others take the frames that they can.
        let isFirst = encoding.index == 0
        let patience = state.sourceCanWait && isFirst ? Self.sourcePatience : .zero
        encoding.encoder.show(track, patience: patience) { [weak self] isMuted in
            if isFirst { self?.muteDidChange(isMuted, of: track) }
        }
        encoding.encoder.setMuted(state.isHeldBack)
        state.group.keyFrameNeeded(of: encoding.index, now: Self.now)
    }

    /// How long a source that can wait is held up at most.
    private static let sourcePatience = Duration.seconds(1)

    private func muteDidChange(_ isMuted: Bool, of track: VideoTrack) {
        let hasBegun = state.withLock { state -> Bool? in
            guard track === state.shown else { return nil }
            state.isMuted = isMuted
            state.isRepeated = false
            state.muteEncoders()
            return state.hasBegun
        }
        guard let hasBegun else { return }
        continuation.yield(.muteChanged)
        updateDemand()
        // One that was muted before shows where it stands.
        if !hasBegun { repeatPicture() }
    }

    // MARK: The senders

    /// Whether there is somebody who takes it.
    package var hasViewer: Bool { state.withLock { $0.audience.hasViewer } }

    /// Whether there are senders, and the peers' descriptions decline all of them.
    package var isRefused: Bool { state.withLock { $0.group.isRefused } }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        state.withLock { state in
            state.sender(on: connection)?.state.agreement.media == .refused
        }
    }

    /// Of so many viewers each is heard at once. Of more, whose paths change all the time, so many as change within
    /// ``followingInterval`` are heard together: each time all are looked at.
    private static let largestSmallRoom = 16
    private static let followingInterval = Duration.milliseconds(20)

    private func targetChanged(_ target: BitrateTarget, of sender: VideoSender) {
        let now = Self.now
        let isHeardSoon = state.withLock { state in
            guard state.group.senders.count > Self.largestSmallRoom else { return false }
            state.group.targetChanged(target, of: sender, now: now)
            return true
        }
        if isHeardSoon {
            followSoon(on: sender.connection)
        } else {
            change { $0.group.targetChanged(target, of: sender, now: now) }
        }
    }

    private func followSoon(on connection: Connection) {
        let isFirst = state.withLock { state in
            defer { state.followsSoon = true }
            return !state.followsSoon
        }
        guard isFirst else { return }
        connection.eventLoop.scheduleTask(in: TimeAmount(Self.followingInterval)) { [weak self] in
            self?.change { $0.followsSoon = false }
        }
    }

    /// Sends a frame to those who are sent its encoding. Called on the encoder's thread.
    private func send(_ frame: PacketizedFrame, isBlurred: Bool, of source: (any VideoSource)?) {
        let now = Self.now
        let (recipients, firstOf, recorder, isMoveDue) = state.withLock { state in
            // Another source was shown while this frame was cut into packets: nobody gets it, and no frame can build on it.
            let isShown = source === state.shown
            if !isShown { state.encodings[frame.stream]?.encoder.requestKeyFrame() }
            let recipients = isShown ? state.group.recipients(of: frame.stream, isKeyFrame: frame.isKeyFrame) : []
            let recorder = isShown && frame.stream == 0 ? state.recorder : nil
            // What nobody is sent has not begun for anybody.
            let isFirst = !recipients.isEmpty && !state.hasBegun
            if isFirst { state.hasBegun = true }
            if isShown, frame.isKeyFrame {
                state.group.keyFrameMade(
                    of: frame.stream, byteCount: frame.bytes.count, isBlurred: isBlurred, now: now)
            }
            return (recipients, isFirst ? state.shown : nil, recorder, state.group.isMoveDue(now: now))
        }
        if let firstOf { continuation.yield(.began(firstOf)) }
        recorder?.receive(frame)
        Connection.send(frame, through: recipients)
        if isMoveDue { change { $0.group.move(now: now) } }
    }

    /// Sets the demand of some senders, or of all. Finds out and posts it under one lock, so that the latest one holds.
    private func updateDemand(of senders: [VideoSender]? = nil) {
        state.withLock { state in
            state.group.isShowing = state.shown != nil && !state.isHeldBack
            for sender in senders ?? Array(state.group.senders.values) {
                sender.setDemand(state.group.demand(of: sender))
            }
        }
    }

    // MARK: Encoding

    /// How many encodings there are.
    var encodingCount: Int { state.withLock { $0.encodings.count } }

    /// What is wanted of the encoder, before the peers' limits.
    package var settings: VideoEncoder.Settings { state.withLock { $0.group.wanted } }

    /// Changes what is wanted of the running encoder.
    package func update(_ change: (inout VideoEncoder.Settings) -> Void) {
        self.change { change(&$0.group.wanted) }
        updateDemand()
    }

    /// Changes what is known, carries out what follows, and brings the encoders to what is wanted and allowed now. In one
    /// piece: of two who do so at the same time, the later has the last word.
    private func change(_ body: (inout State) -> Void) {
        let (isShownAnew, hears, tracks) = state.withLock { state in
            let (before, tracks) = (state.audience, [state.track, state.shown])
            body(&state)
            state.audience = Audience(hasViewer: state.group.hasViewer, isRefused: state.group.isRefused)
            let isShownAnew = show(&state)
            carryOut(&state)
            let now = Self.now
            for (index, encoding) in state.encodings {
                encoding.encoder.apply(state.group.settings(of: index, now: now))
                encoding.encoder.queueDidFill(state.group.isQueueFull(of: index))
            }
            return (isShownAnew, state.audience != before && !state.isStopped, tracks)
        }
        // A track that nobody else has calls its source when it is let go.
        withExtendedLifetime(tracks) {}
        if isShownAnew { updateDemand() }
        if hears { continuation.yield(.audienceChanged) }
    }

    /// Does what follows from what is known of the senders.
    private func carryOut(_ state: inout State) {
        // An encoding that begins, or that can't be had, leads to further actions.
        while let action = state.group.takeAction() {
            switch action {
            case .begin(let index):
                do {
                    let encoding = try makeEncoding(index, settings: state.group.wanted)
                    state.encodings[index] = encoding
                    if let track = state.shown { show(track, in: encoding, &state) }
                } catch {
                    state.group.couldNotBegin(index, now: Self.now)
                }
            case .end(let index): state.encodings.removeValue(forKey: index)?.encoder.end()
            case .makeKeyFrame(let index, let time): state.encodings[index]?.encoder.requestKeyFrame(notBefore: time)
            }
        }
    }

    /// Has the next frame be a key frame, whoever gets it. While the track is muted its last picture answers.
    package func requestKeyFrame() {
        for index in state.withLock({ Array($0.encodings.keys) }) { requestKeyFrame(of: index) }
        repeatPicture()
    }

    private func requestKeyFrame(of encoding: Int) {
        state.withLock { state in
            state.group.keyFrameNeeded(of: encoding, now: Self.now)
            carryOut(&state)
        }
    }

    /// How long the last picture of a muted track is sent to who needs it: until it is sharp.
    private static let repetitionTime = Duration.seconds(2)

    /// Has the last picture of a track that is muted sent once more: who has come, or has lost it, sees where it stands.
    private func repeatPicture() {
        let sender = state.withLock { state -> VideoSender? in
            guard state.isMuted, !state.isRepeated, let sender = state.group.senders.values.first else { return nil }
            state.isRepeated = true
            state.muteEncoders()
            return sender
        }
        guard let sender else { return }
        updateDemand()
        sender.connection.eventLoop.scheduleTask(in: TimeAmount(Self.repetitionTime)) { [weak self] in
            self?.endRepetition()
        }
    }

    private func endRepetition() {
        let ends = state.withLock { state in
            let ends = state.isRepeated && state.isMuted
            state.isRepeated = false
            state.muteEncoders()
            return ends
        }
        if ends { updateDemand() }
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    /// Ends encoding. The encoders' threads end soon after, and remove their sinks from the track.
    package func stop() {
        // What waits to be sent may leave: nobody is told that the picture is gone.
        change { state in
            state.track = nil
            state.isStopped = true
        }
        for encoding in state.withLock({ Array($0.encodings.values) }) { encoding.encoder.end() }
        continuation.finish()
    }

    /// The counts of what is encoded for a connection; without a connection, of what is encoded for the best paths. Nil if
    /// nothing is.
    package func statistics(of connection: Connection? = nil) -> PipelineStatistics? {
        let (encoding, media) = state.withLock { state -> (Encoding?, Int) in
            guard let connection else { return (state.encodings[0], 0) }
            guard let sender = state.sender(on: connection) else { return (nil, 0) }
            return (state.encodings[state.group.encoding(of: sender)], sender.media)
        }
        return encoding.map {
            PipelineStatistics(
                media: media, encoder: $0.encoder.statistics, targetBitrate: $0.encoder.settings.bitrate)
        }
    }
}

extension VideoSendPipeline: SendingPipeline {
    package func makeSender(over connection: Connection, media: Int) -> VideoSender {
        VideoSender(connection: connection, media: media, pipeline: self)
    }

    package func add(_ sender: VideoSender, isActive: Bool) {
        change { state in
            guard !state.isStopped else { return }
            if let old = state.sender(on: sender.connection) { state.group.remove(old, now: Self.now) }
            state.group.add(sender, isActive: isActive)
            if !isActive { sender.setHeldBack(true) }
            // Descriptions that are still to be made have a place for it.
            if state.track != nil { sender.setSending(true) }
        }
    }

    package func remove(_ connection: Connection) {
        change { state in
            guard let sender = state.sender(on: connection) else { return }
            sender.setDemand(.zero)
            state.group.remove(sender, now: Self.now)
        }
    }

    package func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool) {
        let (added, removed) = state.withLock { state in
            let senders = state.group.senders.values.filter { $0.state.isActive != connections.contains($0.id) }
            return (adding ? senders.filter { !$0.state.isActive } : [], senders.filter(\.state.isActive))
        }
        guard !added.isEmpty || !removed.isEmpty else { return }
        change { state in
            for sender in added {
                // Held back, it keeps its place in the descriptions.
                sender.setHeldBack(false)
                state.group.setActive(true, sender, now: Self.now)
            }
            for sender in removed {
                state.group.setActive(false, sender, now: Self.now)
                sender.setHeldBack(true)
            }
        }
        updateDemand(of: added + removed)
        if !added.isEmpty { repeatPicture() }
    }

    package func sender(on connection: Connection) -> VideoSender? { state.withLock { $0.sender(on: connection) } }

    package func record(to source: RecordingSource, name: String, isMain: Bool) {
        let take = source.picture(name: name, isMain: isMain) { [weak self] in self?.requestKeyFrame(of: 0) }
        let recorder = TrackRecorder(picture: take)
        setRecorder(recorder, insteadOf: nil)
        requestKeyFrame(of: 0)
        source.recorder.onEnd { [weak self] in self?.setRecorder(nil, insteadOf: recorder) }
    }

    /// Records no more where it is not `current` that does.
    private func setRecorder(_ recorder: TrackRecorder?, insteadOf current: TrackRecorder?) {
        change { state in
            guard !state.isStopped, current == nil || state.recorder === current else { return }
            state.recorder = recorder
            state.group.isRecorded = recorder != nil
        }
    }

    /// Takes what a sender's connection reports, on the connection's event loop.
    func receive(_ feedback: SenderFeedback, of sender: VideoSender) {
        let now = Self.now
        switch feedback {
        case .negotiated(let agreement):
            let wasIdle = state.withLock { _ in sender.state.isIdle }
            change { $0.group.negotiated(agreement, of: sender, now: now) }
            updateDemand(of: [sender])
            if wasIdle { repeatPicture() }
        case .target(let target): targetChanged(target, of: sender)
        case .keyFrameRequested:
            // Of what else is known nothing changes.
            state.withLock { state in
                state.group.keyFrameRequested(by: sender, now: now)
                carryOut(&state)
            }
            repeatPicture()
        // Its bits are the path's to find.
        case .lossReported: return
        case .unresponsive(let isUnresponsive):
            change { $0.group.setUnresponsive(isUnresponsive, sender, now: now) }
        case .ended: change { $0.group.remove(sender, now: now) }
        }
    }
}
