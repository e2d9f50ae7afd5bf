internal import Logging
internal import NIOCore
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
package import RTCShareRTP
internal import RTCShareRecording
package import RTCShareTransport
package import RTCShareVideoCoding
package import RTCShareWireFormat

/// Encodes a track's video, divides it into packets once for all peers, and sends it to any number of them.
///
///     track ─▶ slot of the newest frame ─▶ encoder's thread ─▶ home loop: packets ─▶ each connection's event loop
///
/// It belongs to one event loop, its home. Calls of its owner, frames of the encoders and reports of connections are
/// processed there, in order; a connection on the same event loop is called directly. The encoder blocks neither the
/// source nor the network. The track can be replaced at any time. Without receivers, nothing is captured.
/// `EncodingGroup` determines the encoding of each sender, and the settings of each encoding. The stream carries that
/// out.
package actor VideoSendStream {
    /// An event of the stream.
    package enum Event: QueuedEvent {
        /// The first frame of this track was sent.
        case began(VideoTrack)
        /// The current track was muted or unmuted, as its `isMuted` shows.
        case muteChanged
        /// This track has no more frames, and the error is nil if that was expected. Viewers keep the last frame.
        case ended(VideoTrack, (any Error)?)
        /// A frame could not be encoded. The next one is tried.
        case failed(VideoCodingError)
        /// The stream has viewers, or none any more, or all decline it: ``hasViewer`` and ``isRefused`` have the state.
        case audienceChanged

        package func outdates(_ old: Event) -> Bool {
            switch (old, self) {
            case (.began(let old), .began(let new)), (.ended(let old, _), .ended(let new, _)): old === new
            case (.muteChanged, .muteChanged), (.failed, .failed), (.audienceChanged, .audienceChanged): true
            default: false
            }
        }
    }

    nonisolated let eventLoop: any EventLoop
    private let shared = SharedSenders<VideoSender, VideoTrack>()
    /// The state of the viewers, for its owner to read without a visit to the event loop.
    private let audience = Locked((hasViewer: false, isRefused: false))
    private let logger = Logger(label: "rtcshare.sending")
    private let pendingEvents = PendingEvents<Event>()
    /// The events in order, for one reader. They end with ``stop()``. Of events that wait for a slow reader, only the
    /// newest of each kind is kept, and of each track.
    package nonisolated var events: PendingEvents<Event>.Stream { pendingEvents.stream }
    private var group: EncodingGroup<VideoSender>
    private var choice: CodecChoice
    /// The capture time of the newest frame of all encodings.
    private var newestCapture: Duration?
    /// The time from which the choice of the codec is made anew.
    private var nextChoice = Duration.zero
    private var encodings: [Int: Encoding] = [:]
    /// The track that the owner set, in the order of all its calls.
    private var given: (track: VideoTrack?, sourceCanWait: Bool) = (nil, false)
    /// The track of the encoders.
    private var shown: VideoTrack?
    /// Whether a frame of that was sent.
    private var hasBegun = false
    /// The recorder of the frames of encoding 0, in addition to its viewers.
    private var recorder: TrackRecorder<RecordedFrame>?
    private var isMuted = false
    /// Whether the latest report of a mute was that of a muted track.
    private var wasMuted = false
    /// The repetition of the last frame while the track is muted.
    private var repetition = FrameRepetition()
    /// Whether an update of the encoders to the current bitrates is scheduled.
    private var followsSoon = false
    private var rateLog = RateLog()

    /// The executor of the home event loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// Creates a stream without a track. `priority` determines its part of a route's bitrate if that is too low for all
    /// media. The codecs are in the order in which a sender uses them if its peer accepts them; with nil, the order goes
    /// by the bitrate and the machine.
    package init(
        settings: VideoEncoder.Settings, codecs: [VideoCodec]? = nil, priority: BitratePriority = .medium,
        home: HomeLoop = HomeLoop()
    ) throws(VideoCodingError) {
        eventLoop = home.eventLoop
        choice = CodecChoice(codecs)
        group = EncodingGroup(wanted: settings, codecs: choice.order, priority: priority)
        let first = try makeEncoding(0, choice.order[0], settings: settings)
        shared.setCodecPreferences(codecs?.map(\.format) ?? [])
        post { $0.encodings[0] = first }
    }

    deinit {
        pendingEvents.finish()
    }

    private nonisolated func makeEncoding(
        _ index: Int, _ codec: VideoCodec, settings: VideoEncoder.Settings
    ) throws(VideoCodingError) -> Encoding {
        let encoder = try VideoEncoder(codec, settings: settings) { [weak self] frame, source in
            self?.post { $0.send(frame, by: index, of: source) }
        } onEvent: { [weak self] event in
            self?.post { $0.handle(event, of: index) }
        }
        return Encoding(encoder)
    }

    private func handle(_ event: VideoEncoder.Event, of encoding: Int) {
        switch event {
        case .failed(let error): pendingEvents.append(.failed(error))
        case .unusable: change { $0.didFail(encoding, now: Self.now) }
        case .drifted:
            connectionLogger.warning(
                "after a partial update, viewers had another frame than the encoder: a key frame follows"
            )
        // The sources of the other encoders end too.
        case .sourceEnded(let error, let source):
            guard encoding == group.mainEncoding, let shown, source === shown else { return }
            pendingEvents.append(.ended(shown, error))
        }
    }

    /// The logger of a viewer, or of the stream: without viewers, the encoders may only have a recorder.
    private var connectionLogger: Logger { group.senders.values.first?.connection.logger ?? logger }

    /// Runs `body` on the home event loop, after everything that this thread posted before.
    private nonisolated func post(_ body: @escaping @Sendable (isolated VideoSendStream) -> Void) {
        eventLoop.execute { self.assumeIsolated(body) }
    }

    // MARK: The track

    /// The track whose video is sent.
    package nonisolated var track: VideoTrack? { shared.track }

    /// Whether that track has sent a frame, even if no route had room for it yet.
    package var hasPicture: Bool { encodings.values.contains(where: \.encoder.hasPicture) }

    /// Sends this track's frames instead of the previous ones, in the same stream, without a new description (W3C
    /// webrtc `replaceTrack`), from a key frame on. Without a track, viewers are notified that the video has ended.
    /// With `sourceCanWait`, the source is blocked while the encoder is busy, and no frame is replaced by a newer one.
    /// The encoders' threads add their sinks to the track soon after this returns, and remove those of the previous
    /// one.
    package nonisolated func replaceTrack(with track: VideoTrack?, sourceCanWait: Bool = false) {
        guard shared.replaceTrack(with: track) else { return }
        post { stream in
            stream.given = (track, sourceCanWait)
            stream.change()
        }
    }

    /// Sets the encoders' track to the current one, or to none while nobody receives it. Returns whether it has
    /// changed.
    private func show() -> Bool {
        let track = group.hasViewer || recorder != nil ? given.track : nil
        guard track !== shown else { return false }
        shown = track
        group.trackChanged(now: Self.now)
        hasBegun = false
        isMuted = false
        repetition.stop()
        applySettings()
        for (index, encoding) in encodings { show(by: encoding.encoder, index) }
        // A mute is only observed while its track is shown, so it can have ended since the last report.
        if wasMuted, shown != nil {
            wasMuted = false
            pendingEvents.append(.muteChanged)
        }
        return true
    }

    private func show(by encoder: VideoEncoder, _ index: Int) {
        guard let track = shown else { return encoder.show(nil) }
        let isFirst = index == 0
        // Only encodings of the best quality may block the source; the others skip frames.
        let patience = given.sourceCanWait && group.hasBestQuality(index) ? Self.sourcePatience : .zero
        encoder.show(track, patience: patience) { [weak self] isMuted in
            if isFirst { self?.post { $0.muteDidChange(isMuted, of: track) } }
        }
        encoder.setMuted(isFrozen)
        group.keyFrameNeeded(of: index, now: Self.now)
    }

    /// The maximum time for which a source that can wait is blocked.
    private static let sourcePatience = Duration.seconds(1)

    /// Whether nothing is encoded because the track is muted.
    private var isFrozen: Bool { isMuted && !repetition.isActive }

    private func muteDidChange(_ isMuted: Bool, of track: VideoTrack) {
        guard track === shown else { return }
        (self.isMuted, wasMuted) = (isMuted, isMuted)
        repetition.stop()
        muteEncoders()
        pendingEvents.append(.muteChanged)
        // A track that was muted before shows its last frame.
        if !hasBegun { repeatPicture() }
    }

    private func muteEncoders() {
        for encoding in encodings.values { encoding.encoder.setMuted(isFrozen) }
        updateDemand()
    }

    // MARK: The senders

    /// Whether there are viewers.
    package nonisolated var hasViewer: Bool { audience.withLock { $0.hasViewer } }

    /// Whether there are senders, and the peers' descriptions decline all of them.
    package nonisolated var isRefused: Bool { audience.withLock { $0.isRefused } }

    /// Returns whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        guard let leading = group.senders[VideoSender.ID(connection: ObjectIdentifier(connection))] else {
            return false
        }
        return ([leading] + leading.layers).allSatisfy { $0.state.agreement.media == .refused }
    }

    /// The number of viewers up to which each bitrate change is processed at once. With more, whose bitrates change all
    /// the time, the changes within ``followingInterval`` are processed together, because each time all viewers are
    /// evaluated.
    private static let largestSmallRoom = 16
    private static let followingInterval = TimeAmount.milliseconds(20)

    private func changeSoon() {
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

    /// Sends a frame of this source to the viewers of its encoding.
    func send(_ encoded: EncodedVideoFrame, by encoding: Int, of source: (any VideoSource)?) {
        // If the source has changed since it was encoded, no viewer receives it, and no frame may depend on it.
        let isAwaited = encoded.isKeyFrame && group.isAwaited(encoding)
        let newest = isAwaited ? newestCapture : nil
        guard source === shown,
            let frame = encodings[encoding]?.packets(of: encoded, index: encoding, after: newest)
        else {
            encodings[encoding]?.encoder.requestKeyFrame()
            return
        }
        newestCapture = max(frame.captureTime, newestCapture ?? frame.captureTime)
        if encoding == group.mainEncoding {
            choice.count(encoded)
            if group.shownHint != encoded.contentHint { change { $0.shownHint = encoded.contentHint } }
        }
        let now = Self.now
        if now >= nextChoice { change() }
        let recipients = group.recipients(of: encoding, isKeyFrame: frame.isKeyFrame)
        if frame.isKeyFrame {
            group.keyFrameMade(
                of: encoding, byteCount: frame.bytes.count, isBlurred: encoded.isUnfinished, now: now)
            // The encodings that its recipients were sent before can end or pause.
            change()
        }
        // A track has started only when somebody receives it.
        if let shown, !hasBegun, !recipients.isEmpty {
            hasBegun = true
            pendingEvents.append(.began(shown))
        }
        if encoding == 0 { recorder?.receive(frame) }
        Connection.send(frame, through: recipients)
        rateLog?.count(encoded, of: encoding, track: shown?.id, now: now) { rates(of: encoding) }
        if group.isMoveDue(now: now) { change { $0.move(now: now) } }
    }

    /// The bitrates of an encoding, for the log.
    private func rates(of encoding: Int) -> RateLog.Rates {
        let viewers = group.members(of: encoding)
        let followed = EncodingGroup.responsive(viewers).filter { !$0.state.isWithheld }
        return RateLog.Rates(
            viewers: viewers.count, targets: followed.compactMap(\.state.rate),
            encoder: encodings[encoding]?.encoder.settings.bitrate ?? .zero)
    }

    /// Sets the demand of some senders, or of all.
    private func updateDemand(of senders: [VideoSender]? = nil) {
        group.isShowing = shown != nil && !isFrozen
        for sender in senders ?? Array(group.senders.values) { sender.setDemand(group.demand(of: sender)) }
    }

    // MARK: Encoding

    /// The number of encodings.
    var encodingCount: Int { encodings.count }

    /// The settings that the owner wants, before the peers' limits.
    package var settings: VideoEncoder.Settings { group.wanted }

    /// Changes the settings of the running encoder.
    package nonisolated func update(_ body: @escaping @Sendable (inout VideoEncoder.Settings) -> Void) {
        post { stream in
            stream.change { body(&$0.wanted) }
            stream.updateDemand()
        }
    }

    /// Changes the parameters of the layers of a simulcast, the best first (W3C `setParameters`); empty for the usual ones.
    package nonisolated func setLayers(_ layers: [VideoLayerParameters]) {
        post { stream in
            stream.change { $0.setLayers(layers, now: Self.now) }
            stream.updateDemand()
        }
    }

    /// Changes the group, carries out its actions, and then updates the encoders' settings.
    private func change(_ body: (inout EncodingGroup<VideoSender>) -> Void = { _ in }) {
        chooseCodecs()
        body(&group)
        let isShownAnew = show()
        carryOut()
        applySettings()
        for index in encodings.keys {
            rateLog?.count(nil, of: index, track: shown?.id, now: Self.now) { rates(of: index) }
        }
        if isShownAnew { updateDemand() }
        let present = (hasViewer: group.hasViewer, isRefused: group.isRefused)
        let isNews = audience.withLock { audience in
            defer { audience = present }
            return audience != present
        }
        if isNews { pendingEvents.append(.audienceChanged) }
    }

    private func applySettings() {
        let now = Self.now
        for index in encodings.keys {
            encodings[index]?.apply(
                group.settings(of: index, now: now), isQueueFull: group.isQueueFull(of: index))
        }
    }

    /// Sets the codecs in the order in which a sender uses them, or with nil an order that goes by the bitrate and the
    /// machine. The next descriptions have the same order, since some servers accept only the first codec of an offer.
    package nonisolated func setCodecs(_ codecs: [VideoCodec]?) {
        shared.setCodecPreferences(codecs?.map(\.format) ?? [])
        post { stream in
            guard codecs != stream.choice.wanted else { return }
            stream.choice = CodecChoice(codecs)
            stream.nextChoice = .zero
            stream.change()
        }
    }

    /// The codec for viewers who accept it, with the reason.
    package var codecDecision: CodecDecision? { choice.decision(failed: group.failedCodecs, now: Self.now) }

    /// The reason why the best encoding that has viewers is limited; nil without viewers, and if it is not.
    package var qualityLimitationReason: QualityLimitationReason? {
        guard group.hasViewer else { return nil }
        let reason = encodings[group.mainEncoding]?.encoder.statistics.qualityLimitationReason
        return reason == QualityLimitationReason.none ? nil : reason
    }

    /// Returns the bitrate at which a page of dense text of this size becomes sharp within a second, in the first of
    /// the codecs, or with nil in the one that is chosen first, or in the quickest one while the others rest.
    package static func usualBitrate(
        of size: PixelSize, codecs: [VideoCodec]?, isRecorded: Bool, isResting: Bool
    ) -> DataRate {
        CodecChoice(codecs).usualBitrate(of: size, isRecorded: isRecorded, isResting: isResting)
    }

    /// The size of the source's frames, if it is known before the first one.
    private var capturedSize: PixelSize? { (given.track?.source as? any CaptureSource)?.captureFormat.size }

    private static let choiceInterval = Duration.seconds(1)

    /// Chooses the order of the codecs by the best route of a viewer and the state of the encoders.
    private func chooseCodecs() {
        let now = Self.now
        guard now >= nextChoice else { return }
        let statistics = encodings.values.map(\.encoder.statistics)
        // Encodings for slow routes can be smaller.
        let sent = statistics.compactMap(\.fullSize).max { $0.area < $1.area }
        guard let size = sent ?? capturedSize?.fitted(within: group.wanted.maximumSize) else { return }
        nextChoice = now + Self.choiceInterval
        let rates = group.senders.values.compactMap { $0.state.isIdle ? nil : $0.state.rate }
        choice.update(
            bitrate: min(rates.max() ?? group.wanted.bitrate, group.wanted.bitrate), maximum: group.wanted.bitrate,
            size: size, isTooSlow: statistics.contains { $0.qualityLimitationReason == .cpu },
            isRecorded: recorder != nil, now: now)
        group.setCodecs(choice.order, now: now)
    }

    /// Carries out the group's actions.
    private func carryOut() {
        // An encoding that starts, or fails to, leads to further actions.
        while let action = group.takeAction() {
            switch action {
            case .begin(let index, let codec):
                do {
                    let encoding = try makeEncoding(
                        index, codec, settings: group.settings(of: index, now: Self.now))
                    encodings[index] = encoding
                    if shown != nil { show(by: encoding.encoder, index) }
                } catch {
                    connectionLogger.warning("an encoder could not be started: \(error)")
                    group.didFailToBegin(index, now: Self.now)
                }
            case .end(let index): encodings.removeValue(forKey: index)?.encoder.end()
            case .makeKeyFrame(let index, let time): encodings[index]?.encoder.requestKeyFrame(notBefore: time)
            case .updateDemand: updateDemand()
            }
        }
    }

    private func requestKeyFrame(of encoding: Int) {
        group.keyFrameNeeded(of: encoding, now: Self.now)
        carryOut()
    }

    /// Repeats the last frame of a muted track, for viewers who joined or lost it.
    private func repeatPicture() {
        guard isMuted, !group.senders.isEmpty else { return }
        changeRepetition { $0.prolong(now: Self.now) }
    }

    /// Changes the repetition, which returns the duration of a timer.
    private func changeRepetition(_ body: (inout FrameRepetition) -> Duration?) {
        let wasActive = repetition.isActive
        let timer = body(&repetition)
        if repetition.isActive != wasActive { muteEncoders() }
        guard let timer else { return }
        after(TimeAmount(timer)) { stream in
            let isAwaited = stream.isKeyFrameAwaited
            stream.changeRepetition { $0.timerFired(isAwaited: isAwaited, now: Self.now) }
        }
    }

    /// Whether a viewer awaits a key frame that an encoder can make.
    private var isKeyFrameAwaited: Bool {
        encodings.contains { index, encoding in
            encoding.encoder.hasPicture && group.isAwaited(index, reachable: true)
        }
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    /// Ends encoding. The encoders' threads end soon after, and remove their sinks from the track.
    package nonisolated func stop() {
        shared.stop()
        pendingEvents.finish()
        post { stream in
            // Packets that wait may still be sent: nobody is notified of the end of the video.
            stream.given.track = nil
            stream.change()
            for encoding in stream.encodings.values { encoding.encoder.end() }
        }
    }

    /// Returns the counts of the encodings for a connection: one, or those of each layer; empty if there is none.
    package func statistics(of connection: Connection) -> [EncodingStatistics] {
        guard let leading = group.senders[VideoSender.ID(connection: ObjectIdentifier(connection))] else { return [] }
        return ([leading] + leading.layers).compactMap { sender in
            // A further layer that is not sent has no encoding.
            guard sender.layer.index == 0 || !sender.state.isIdle else { return nil }
            return encodings[group.encoding(of: sender)].map { EncodingStatistics(media: sender.media, $0.encoder) }
        }
    }

    /// Returns the counts of the encoding for the best bitrates.
    package func statistics() -> EncodingStatistics? {
        encodings[0].map { EncodingStatistics(media: 0, $0.encoder) }
    }
}

extension VideoSendStream: SendingStream {
    package nonisolated var codecPreferences: [any VideoPayloadFormat] { shared.codecPreferences }

    package nonisolated func makeSender(over connection: Connection, media: [Int]) -> VideoSender {
        VideoSender(connection: connection, media: media, stream: self)
    }

    package nonisolated func add(_ sender: VideoSender, isActive: Bool) {
        guard sender.connection.assumeIsolated({ shared.add(sender, isActive: isActive, on: $0) }) else { return }
        post { stream in
            // Its connection may have ended since.
            guard stream.shared.contains(sender) else { return }
            stream.change { group in
                for one in [sender] + sender.layers {
                    if let old = group.senders[one.id] { group.remove(old, now: Self.now) }
                    group.add(one, layer: one.layer, isActive: isActive)
                }
            }
        }
    }

    package nonisolated func remove(_ connection: Connection) {
        guard let sender = shared.remove(connection) else { return }
        post { stream in
            for one in [sender] + sender.layers { one.setDemand(.zero) }
            stream.change { group in
                for one in [sender] + sender.layers { group.remove(one, now: Self.now) }
            }
        }
    }

    package nonisolated func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool) {
        post { stream in
            let changed = stream.group.senders.values.filter { sender in
                let isMember = connections.contains(sender.id.connection)
                return sender.layer.index == 0 && (sender.state.isActive ? !isMember : adding && isMember)
            }
            stream.toggle(changed)
        }
    }

    package nonisolated func setActive(_ isActive: Bool, on connection: Connection) {
        post { [id = VideoSender.ID(connection: ObjectIdentifier(connection))] stream in
            guard let sender = stream.group.senders[id], sender.state.isActive != isActive else { return }
            stream.toggle([sender])
        }
    }

    private func toggle(_ senders: [VideoSender]) {
        guard !senders.isEmpty else { return }
        change { group in
            for sender in senders {
                // Held back, it keeps its place in the descriptions.
                let isActive = !sender.state.isActive
                sender.setHeldBack(!isActive)
                for one in [sender] + sender.layers { group.setActive(isActive, one, now: Self.now) }
            }
        }
        updateDemand(of: senders.flatMap { [$0] + $0.layers })
        if senders.contains(where: \.state.isActive) { repeatPicture() }
    }

    package nonisolated func sender(on connection: Connection) -> VideoSender? { shared.sender(on: connection) }

    package nonisolated func record(to source: RecordingSource, name: String, isMain: Bool) {
        let take = source.picture(name: name, isMain: isMain) { [weak self] in
            self?.post { $0.requestKeyFrame(of: 0) }
        }
        let recorder = TrackRecorder(take)
        post { stream in
            stream.setRecorder(recorder)
            stream.requestKeyFrame(of: 0)
        }
        source.recorder.onEnd { [weak self] in
            self?.post { if $0.recorder === recorder { $0.setRecorder(nil) } }
        }
    }

    private func setRecorder(_ recorder: TrackRecorder<RecordedFrame>?) {
        self.recorder = recorder
        change { $0.isRecorded = recorder != nil }
    }

    /// Prepares the encoder of the first viewer while the connection is being established.
    nonisolated func prepare(for sender: VideoSender, _ agreement: SenderAgreement) {
        post { stream in
            guard stream.group.isFirst(sender, agreement), let size = stream.capturedSize else { return }
            stream.encodings[0]?.encoder.prepare(for: size)
        }
    }

    /// Receives a report of a sender's connection, on the connection's event loop.
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
        case .target(let target):
            if group.senders.count <= Self.largestSmallRoom {
                change { $0.targetChanged(target, of: sender, now: now) }
            } else {
                group.targetChanged(target, of: sender, now: now)
                changeSoon()
            }
        case .keyFrameRequested:
            // Nothing else changes.
            group.keyFrameRequested(by: sender, now: now)
            carryOut()
            repeatPicture()
        // The congestion control adapts the bitrate.
        case .lossReported: return
        case .unresponsive(let isUnresponsive): change { $0.setUnresponsive(isUnresponsive, sender, now: now) }
        case .ended: change { $0.remove(sender, now: now) }
        }
    }
}
