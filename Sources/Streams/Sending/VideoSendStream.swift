internal import Logging
internal import NIOCore
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareTransport
package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// From a track to any number of peers: one encode, one cut into packets, for all of them.
///
///     track ─▶ slot of the newest frame ─▶ encoder's thread ─▶ home loop: packets ─▶ each connection's event loop
///
/// It lives on one event loop, its home. What its owner says, what the encoders make and what connections report is done
/// there, in the order in which it is said; a connection that lives there too is called directly. The encoder never makes the
/// source or the network wait. The track can be replaced while it runs; while nobody takes it, nothing is captured.
/// `EncodingGroup` decides which sender is sent which encoding, and what each is made at. The stream carries that out.
package actor VideoSendStream {
    /// What happens to what is sent.
    package enum Event: Sendable {
        /// The first frame of this track has left the encoder.
        case began(VideoTrack)
        /// The present track holds its pictures back, or gives them again: its `isMuted` says which.
        case muteChanged
        /// This track has no more frames, and the error is nil if that was expected. Viewers keep the last frame.
        case ended(VideoTrack, (any Error)?)
        /// A frame could not be encoded. The next one is tried.
        case failed(VideoCodingError)
        /// There is somebody who takes it, or nobody any more, or all decline it: ``hasViewer`` and ``isRefused`` say.
        case audienceChanged
    }

    nonisolated let eventLoop: any EventLoop
    private let shared = SharedSenders<VideoSender, VideoTrack>()
    /// Who takes what is sent, for its owner to read without a visit to the event loop.
    private let audience = Locked((hasViewer: false, isRefused: false))
    private let logger = Logger(label: "rtcshare.sending")
    private let continuation: AsyncStream<Event>.Continuation
    /// The events in order, for one reader. The stream ends with ``stop()``.
    package nonisolated let events: AsyncStream<Event>
    private var group: EncodingGroup<VideoSender>
    private var encodings: [Int: Encoding] = [:]
    /// What the owner gave to send, in the order of all that it said.
    private var given: (track: VideoTrack?, sourceCanWait: Bool) = (nil, false)
    /// What the encoders were given.
    private var shown: VideoTrack?
    /// Whether a frame of that was sent.
    private var hasBegun = false
    /// What takes the frames of encoding 0, beside those who are sent it.
    private var recorder: TrackRecorder?
    private var isMuted = false
    /// The last picture is sent once more although the track is muted.
    private var isRepeated = false
    /// Whether the encoders are brought to what the paths have now in a moment.
    private var followsSoon = false
    private var rateLog = RateLog()

    /// The home loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// A stream without a track. Where a path has less than all that is sent there would use, `priority` says who goes
    /// first.
    package init(
        settings: VideoEncoder.Settings, priority: BitratePriority = .medium, home: HomeLoop = HomeLoop()
    ) throws(VideoCodingError) {
        eventLoop = home.eventLoop
        // A late reader has missed what is long past.
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(32))
        group = EncodingGroup(wanted: settings, priority: priority)
        let first = try makeEncoding(0, settings: settings)
        post { $0.encodings[0] = first }
    }

    deinit {
        continuation.finish()
    }

    private nonisolated func makeEncoding(
        _ index: Int, settings: VideoEncoder.Settings
    ) throws(VideoCodingError) -> Encoding {
        let encoder = try VideoEncoder(settings: settings) { [weak self] frame, source in
            self?.post { $0.send(frame, by: index, of: source) }
        } onEvent: { [weak self] event in
            self?.post { $0.handle(event, of: index) }
        }
        return Encoding(encoder)
    }

    private func handle(_ event: VideoEncoder.Event, of encoding: Int) {
        switch event {
        case .failed(let error): continuation.yield(.failed(error))
        case .drifted:
            // With no viewer a recorder may take what the encoders make.
            (group.senders.values.first?.connection.logger ?? logger).warning(
                "after a partial update, viewers had another frame than the encoder: a key frame follows"
            )
        // The other encoders' sources end too.
        case .sourceEnded(let error, let source):
            if encoding == 0, let shown, source === shown { continuation.yield(.ended(shown, error)) }
        }
    }

    /// Does something on the home loop, after all that this thread had done there before.
    private nonisolated func post(_ body: @escaping @Sendable (isolated VideoSendStream) -> Void) {
        eventLoop.execute { self.assumeIsolated(body) }
    }

    // MARK: The track

    /// The track whose pictures are sent.
    package nonisolated var track: VideoTrack? { shared.track }

    /// Whether that track has given a picture, also where no path had room for it yet.
    package var hasPicture: Bool { encodings.values.contains(where: \.encoder.hasPicture) }

    /// Sends this track's pictures in place of those before, in the same stream, without a new description (W3C webrtc
    /// `replaceTrack`), from a key frame on. Without a track, viewers are told that the picture is gone. With
    /// `sourceCanWait`, the source is held up while the encoder is busy, and none of its frames is replaced by a newer one.
    /// The encoders' threads add their sinks to the track soon after this returns, and remove those of the one before.
    package nonisolated func replaceTrack(with track: VideoTrack?, sourceCanWait: Bool = false) {
        guard shared.replaceTrack(with: track) else { return }
        post { stream in
            stream.given = (track, sourceCanWait)
            stream.change()
        }
    }

    /// Gives the encoders the present track, or none while nobody takes it; returns whether that is another than before.
    private func show() -> Bool {
        let track = group.hasViewer || recorder != nil ? given.track : nil
        guard track !== shown else { return false }
        shown = track
        hasBegun = false
        isMuted = false
        isRepeated = false
        for (index, encoding) in encodings { show(by: encoding.encoder, index) }
        return true
    }

    private func show(by encoder: VideoEncoder, _ index: Int) {
        guard let track = shown else { return encoder.show(nil) }
        // The first encoding may make the source wait; the others take the frames that they can.
        let isFirst = index == 0
        let patience = given.sourceCanWait && isFirst ? Self.sourcePatience : .zero
        encoder.show(track, patience: patience) { [weak self] isMuted in
            if isFirst { self?.post { $0.muteDidChange(isMuted, of: track) } }
        }
        encoder.setMuted(isHeldBack)
        group.keyFrameNeeded(of: index, now: Self.now)
    }

    /// How long a source that can wait is held up at most.
    private static let sourcePatience = Duration.seconds(1)

    /// Whether nothing is encoded because the track is muted.
    private var isHeldBack: Bool { isMuted && !isRepeated }

    private func muteDidChange(_ isMuted: Bool, of track: VideoTrack) {
        guard track === shown else { return }
        self.isMuted = isMuted
        isRepeated = false
        muteEncoders()
        continuation.yield(.muteChanged)
        // One that was muted before shows where it stands.
        if !hasBegun { repeatPicture() }
    }

    private func muteEncoders() {
        for encoding in encodings.values { encoding.encoder.setMuted(isHeldBack) }
        updateDemand()
    }

    // MARK: The senders

    /// Whether there is somebody who takes it.
    package nonisolated var hasViewer: Bool { audience.withLock { $0.hasViewer } }

    /// Whether there are senders, and the peers' descriptions decline all of them.
    package nonisolated var isRefused: Bool { audience.withLock { $0.isRefused } }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        group.senders[ObjectIdentifier(connection)]?.state.agreement.media == .refused
    }

    /// Of so many viewers each is heard at once. Of more, whose paths change all the time, so many as change within
    /// ``followingInterval`` are heard together: each time all are looked at.
    private static let largestSmallRoom = 16
    private static let followingInterval = TimeAmount.milliseconds(20)

    private func targetChanged(_ target: BitrateTarget, of sender: VideoSender) {
        guard group.senders.count > Self.largestSmallRoom else {
            return change { $0.targetChanged(target, of: sender, now: Self.now) }
        }
        group.targetChanged(target, of: sender, now: Self.now)
        guard !followsSoon else { return }
        followsSoon = true
        after(Self.followingInterval) { stream in
            stream.followsSoon = false
            stream.change()
        }
    }

    private func after(_ time: TimeAmount, _ body: @escaping @Sendable (isolated VideoSendStream) -> Void) {
        eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.assumeIsolated(body) }
    }

    /// Sends a frame of this source to the viewers who are sent its encoding.
    func send(_ encoded: EncodedVideoFrame, by encoding: Int, of source: (any VideoSource)?) {
        // If another source is shown since it was encoded, no viewer gets it, and no frame can build on it.
        guard source === shown, let frame = encodings[encoding]?.packets(of: encoded, index: encoding) else {
            encodings[encoding]?.encoder.requestKeyFrame()
            return
        }
        let now = Self.now
        let recipients = group.recipients(of: encoding, isKeyFrame: frame.isKeyFrame)
        if frame.isKeyFrame {
            group.keyFrameMade(
                of: encoding, byteCount: frame.bytes.count, isBlurred: encoded.isUnfinished, now: now)
        }
        // What nobody is sent has not begun for anybody.
        if let shown, !hasBegun, !recipients.isEmpty {
            hasBegun = true
            continuation.yield(.began(shown))
        }
        if encoding == 0 { recorder?.receive(frame) }
        Connection.send(frame, through: recipients)
        rateLog?.count(encoded, of: encoding, now: now) { rates(of: encoding) }
        if group.isMoveDue(now: now) { change { $0.move(now: now) } }
    }

    /// What an encoding's viewers have room for, and what its encoder was given of that.
    private func rates(of encoding: Int) -> RateLog.Rates {
        let senders = group.senders.values.filter { group.encoding(of: $0) == encoding }
        return RateLog.Rates(
            targets: senders.compactMap(\.state.rate), encoder: encodings[encoding]?.encoder.settings.bitrate ?? .zero)
    }

    /// Sets the demand of some senders, or of all.
    private func updateDemand(of senders: [VideoSender]? = nil) {
        group.isShowing = shown != nil && !isHeldBack
        for sender in senders ?? Array(group.senders.values) { sender.setDemand(group.demand(of: sender)) }
    }

    // MARK: Encoding

    /// How many encodings there are.
    var encodingCount: Int { encodings.count }

    /// What is wanted of the encoder, before the peers' limits.
    package var settings: VideoEncoder.Settings { group.wanted }

    /// Changes what is wanted of the running encoder.
    package nonisolated func update(_ body: @escaping @Sendable (inout VideoEncoder.Settings) -> Void) {
        post { stream in
            stream.change { body(&$0.wanted) }
            stream.updateDemand()
        }
    }

    /// Changes what is known, carries out what follows, and brings the encoders to what is wanted and allowed now.
    private func change(_ body: (inout EncodingGroup<VideoSender>) -> Void = { _ in }) {
        body(&group)
        let isShownAnew = show()
        carryOut()
        let now = Self.now
        for (index, encoding) in encodings {
            encoding.encoder.apply(group.settings(of: index, now: now))
            encoding.encoder.queueDidFill(group.isQueueFull(of: index))
        }
        if isShownAnew { updateDemand() }
        let present = (hasViewer: group.hasViewer, isRefused: group.isRefused)
        let isNews = audience.withLock { audience in
            defer { audience = present }
            return audience != present
        }
        if isNews { continuation.yield(.audienceChanged) }
    }

    /// Does what follows from what is known of the senders.
    private func carryOut() {
        // An encoding that begins, or that can't be had, leads to further actions.
        while let action = group.takeAction() {
            switch action {
            case .begin(let index):
                do {
                    let encoding = try makeEncoding(index, settings: group.wanted)
                    encodings[index] = encoding
                    if shown != nil { show(by: encoding.encoder, index) }
                } catch {
                    group.didFailToBegin(index, now: Self.now)
                }
            case .end(let index): encodings.removeValue(forKey: index)?.encoder.end()
            case .makeKeyFrame(let index, let time): encodings[index]?.encoder.requestKeyFrame(notBefore: time)
            }
        }
    }

    private func requestKeyFrame(of encoding: Int) {
        group.keyFrameNeeded(of: encoding, now: Self.now)
        carryOut()
    }

    /// How long the last picture of a muted track is sent to viewers who need it: until it is sharp.
    private static let repetitionTime = TimeAmount.seconds(2)

    /// Sends the last picture of a muted track once more: viewers who joined, or lost it, see where it stands.
    private func repeatPicture() {
        guard isMuted, !isRepeated, !group.senders.isEmpty else { return }
        isRepeated = true
        muteEncoders()
        after(Self.repetitionTime) { stream in
            guard stream.isRepeated else { return }
            stream.isRepeated = false
            stream.muteEncoders()
        }
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    /// Ends encoding. The encoders' threads end soon after, and remove their sinks from the track.
    package nonisolated func stop() {
        shared.stop()
        continuation.finish()
        post { stream in
            // What waits to be sent may leave: nobody is told that the picture is gone.
            stream.given.track = nil
            stream.change()
            for encoding in stream.encodings.values { encoding.encoder.end() }
        }
    }

    /// The counts of what is encoded for a connection; without a connection, of what is encoded for the best paths. Nil if
    /// nothing is.
    package func statistics(of connection: Connection? = nil) -> PipelineStatistics? {
        var (index, media): (Int?, Int) = (0, 0)
        if let connection {
            let sender = group.senders[ObjectIdentifier(connection)]
            (index, media) = (sender.map { group.encoding(of: $0) }, sender?.media ?? 0)
        }
        return index.flatMap { encodings[$0]?.encoder }.map {
            PipelineStatistics(media: media, encoder: $0.statistics, targetBitrate: $0.settings.bitrate)
        }
    }
}

extension VideoSendStream: SendingStream {
    package nonisolated func makeSender(over connection: Connection, media: Int) -> VideoSender {
        VideoSender(connection: connection, media: media, stream: self)
    }

    package nonisolated func add(_ sender: VideoSender, isActive: Bool) {
        guard sender.connection.assumeIsolated({ shared.add(sender, isActive: isActive, on: $0) }) else { return }
        post { stream in
            // Its connection may have ended meanwhile.
            guard stream.shared.contains(sender) else { return }
            stream.change { group in
                if let old = group.senders[sender.id] { group.remove(old, now: Self.now) }
                group.add(sender, isActive: isActive)
            }
        }
    }

    package nonisolated func remove(_ connection: Connection) {
        guard let sender = shared.remove(connection) else { return }
        post { stream in
            sender.setDemand(.zero)
            stream.change { $0.remove(sender, now: Self.now) }
        }
    }

    package nonisolated func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool) {
        post { stream in
            let changed = stream.group.senders.values.filter {
                $0.state.isActive ? !connections.contains($0.id) : adding && connections.contains($0.id)
            }
            guard !changed.isEmpty else { return }
            stream.change { group in
                for sender in changed {
                    // Held back, it keeps its place in the descriptions.
                    sender.setHeldBack(sender.state.isActive)
                    group.setActive(!sender.state.isActive, sender, now: Self.now)
                }
            }
            stream.updateDemand(of: changed)
            if changed.contains(where: \.state.isActive) { stream.repeatPicture() }
        }
    }

    package nonisolated func sender(on connection: Connection) -> VideoSender? { shared.sender(on: connection) }

    package nonisolated func record(to source: RecordingSource, name: String, isMain: Bool) {
        let take = source.picture(name: name, isMain: isMain) { [weak self] in
            self?.post { $0.requestKeyFrame(of: 0) }
        }
        let recorder = TrackRecorder(picture: take)
        post { stream in
            stream.setRecorder(recorder)
            stream.requestKeyFrame(of: 0)
        }
        source.recorder.onEnd { [weak self] in
            self?.post { if $0.recorder === recorder { $0.setRecorder(nil) } }
        }
    }

    private func setRecorder(_ recorder: TrackRecorder?) {
        self.recorder = recorder
        change { $0.isRecorded = recorder != nil }
    }

    /// Takes what a sender's connection reports, on the connection's event loop.
    nonisolated func receive(_ feedback: SenderFeedback, of sender: VideoSender) {
        if case .ended = feedback { shared.connectionEnded(of: sender) }
        guard eventLoop.inEventLoop else { return post { $0.handle(feedback, of: sender) } }
        assumeIsolated { $0.handle(feedback, of: sender) }
    }

    private func handle(_ feedback: SenderFeedback, of sender: VideoSender) {
        let now = Self.now
        switch feedback {
        case .negotiated(let agreement):
            let wasIdle = sender.state.isIdle
            change { $0.negotiated(agreement, of: sender, now: now) }
            updateDemand(of: [sender])
            if wasIdle { repeatPicture() }
        case .target(let target): targetChanged(target, of: sender)
        case .keyFrameRequested:
            // Of what else is known nothing changes.
            group.keyFrameRequested(by: sender, now: now)
            carryOut()
            repeatPicture()
        // Its bits are the path's to find.
        case .lossReported: return
        case .unresponsive(let isUnresponsive): change { $0.setUnresponsive(isUnresponsive, sender, now: now) }
        case .ended: change { $0.remove(sender, now: now) }
        }
    }
}
