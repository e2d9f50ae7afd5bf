internal import Locks
public import Media
internal import NIOCore
public import PeerConnection
public import VideoCoding
internal import WireFormat

/// From a track to any number of peers: one encode, one cut into packets, for all of them.
///
///     track ─▶ slot of the newest frame ─▶ encoder's thread ─▶ packets ─▶ each connection's event loop
///
/// The encoder never makes the source or the network wait. The track can be replaced while it runs; what peers ask for
/// comes back here, and nowhere else. Where the paths of several peers differ so much that the poor ones would hold back
/// the others, these get an encode of their own (`QualityRungs`), as do those whose descriptions take far less than others'
/// do; where one path takes nothing for a while, only its peer is left out; and who keeps asking for key frames waits longer
/// for each (`KeyFrameAllowance`).
public final class VideoSendPipeline: Sendable {
    /// What happens to what is sent.
    public enum Event: Sendable {
        /// The first frame of this track has left the encoder.
        case began(VideoTrack)
        /// The present track holds its pictures back, or gives them again: its `isMuted` says which.
        case muteChanged
        /// The present track has nothing more to give: with an error where that was not asked for. The last picture
        /// stays with the viewers.
        case ended((any Error)?)
        /// A frame could not be encoded. The next one is tried.
        case failed(VideoCodingError)
    }

    /// What is known of a connection.
    private struct Viewer {
        /// Nil before it is attached.
        var destination: SendingRung.Destination?
        /// What its peer asks for.
        var limits: SendingLimits?
        /// What its path has for this.
        var target: BitrateTarget?
        /// When its requests are answered.
        var keyFrames = KeyFrameAllowance()
        /// When it is taken up again that was left out, or moved: it asked for neither, and sees nothing until then.
        var rejoining = KeyFrameAllowance(longestInterval: .seconds(2))
        /// Nothing is sent to it, since its queue is full and others' are not.
        var isWithheld = false

        var isQueueFull: Bool { target?.isQueueFull ?? false }
    }

    private struct State {
        var wanted: VideoEncoderThread.Settings
        var track: VideoTrack?
        var sourceCanWait = false
        var viewers: [ObjectIdentifier: Viewer] = [:]
        var rungs = QualityRungs<ObjectIdentifier>()
        /// By their rungs: that of the first is always there, others while somebody is in them.
        var encodes: [Int: SendingRung] = [:]
        /// How many encodes there were.
        var streams = 0
        /// Whether a frame of the present track was sent.
        var hasBegun = false
        var isMuted = false
        /// The last picture is sent once more although the track is muted.
        var isGlimpsed = false
        var isStopped = false
        var lastMoves = Duration.zero
        /// Whether the encoders are brought to what the paths have now in a moment.
        var followsSoon = false

        /// What is wanted of a rung, as far as the paths and peers of those who are in it allow.
        func allowedSettings(of rung: Int, now: Duration) -> VideoEncoderThread.Settings {
            var settings = wanted
            let members = members(of: rung).map(\.viewer)
            // The first is encoded where there is nobody to go by, and the others never: nobody would look on.
            if members.isEmpty, rung > 0 || viewers.contains(where: { $0.value.destination != nil }) {
                settings.bitsPerSecond = 0
                return settings
            }
            if let rate = rungs.rate(of: rung, now: now) { settings.bitsPerSecond = min(settings.bitsPerSecond, rate) }
            let pacing = members.compactMap { $0.isWithheld ? nil : $0.target?.pacingRate }.min()
            settings.burstBitsPerSecond = pacing.map { Int(clamping: $0.bitsPerSecond) } ?? 0
            for limits in members.compactMap(\.limits) { limits.apply(to: &settings, isShared: members.count > 1) }
            return settings
        }

        /// What a viewer is sent: the first, where the system had no thread for that of its rung.
        func encode(of viewer: ObjectIdentifier) -> SendingRung? { encodes[rungs.rung(of: viewer)] ?? encodes[0] }

        /// Those who are in a rung.
        func members(of rung: Int) -> [(id: ObjectIdentifier, viewer: Viewer)] {
            viewers.compactMap { id, viewer in
                viewer.destination != nil && rungs.rung(of: id) == rung ? (id, viewer) : nil
            }
        }

        /// When a key frame that a viewer needs is made: at once where that costs nobody else.
        mutating func keyFrameTime(
            for viewer: ObjectIdentifier, by allowance: WritableKeyPath<Viewer, KeyFrameAllowance> = \.keyFrames,
            now: Duration
        ) -> Duration {
            let rung = rungs.rung(of: viewer)
            let isShared = viewers.contains { id, other in
                id != viewer && other.destination != nil && rungs.rung(of: id) == rung
            }
            return isShared ? viewers[viewer]?[keyPath: allowance].request(now: now) ?? now : now
        }

        /// Takes out the encodes that nobody is sent.
        mutating func takeUnused() -> [SendingRung] {
            encodes.keys.filter { $0 > 0 && members(of: $0).isEmpty }.compactMap { encodes.removeValue(forKey: $0) }
        }

        /// Whether the queues of all who are in a rung are full.
        func isQueueFull(of rung: Int) -> Bool {
            let members = members(of: rung)
            return !members.isEmpty && members.allSatisfy(\.viewer.isQueueFull)
        }

        /// Leaves out those of a rung whose queues are full while others' are not, and takes them up again, with a key
        /// frame, once theirs are not either.
        mutating func withhold(in rung: Int, now: Duration) {
            let members = members(of: rung)
            let anyIsReady = members.contains { !$0.viewer.isQueueFull }
            for (id, viewer) in members {
                guard let destination = viewer.destination, let encode = encode(of: id) else { continue }
                if viewer.isQueueFull, anyIsReady, !viewer.isWithheld {
                    encode.remove(destination.connection)
                } else if !viewer.isQueueFull, viewer.isWithheld {
                    encode.join(destination, at: keyFrameTime(for: id, by: \.rejoining, now: now))
                } else {
                    continue
                }
                viewers[id]?.isWithheld.toggle()
                rungs.setWithheld(!viewer.isWithheld, id)
            }
        }
    }

    private let state: Locked<State>
    private let continuation: AsyncStream<Event>.Continuation
    /// What happens, in order. One reader. Ends with ``stop()``.
    public let events: AsyncStream<Event>

    /// How often it is looked who is to be sent another encode.
    private static let moveInterval = Duration.milliseconds(200)

    /// A pipeline without a track.
    public init(settings: VideoEncoderThread.Settings) throws(VideoCodingError) {
        // Who reads late, or never, has missed what is long past.
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(32))
        state = Locked(State(wanted: settings))
        let first = try makeEncode(0, stream: 0, settings: settings)
        state.withLock { $0.encodes = [0: first] }
    }

    deinit {
        stop()
    }

    private func makeEncode(
        _ index: Int, stream: Int, settings: VideoEncoderThread.Settings
    ) throws(VideoCodingError) -> SendingRung {
        let continuation = continuation
        return try SendingRung(index: index, stream: stream, settings: settings) { [weak self] began, joined in
            self?.didSend(from: stream, began: began, joined: joined)
        } onEvent: { event in
            switch event {
            case .failed(let error): continuation.yield(.failed(error))
            // The others hear of it too.
            case .sourceEnded(let error): if index == 0 { continuation.yield(.ended(error)) }
            }
        }
    }

    /// The track whose pictures are sent.
    public var track: VideoTrack? { state.withLock { $0.track } }

    /// Whether that track has given a picture, also where no path had room for it yet.
    public var hasPicture: Bool { state.withLock { $0.encodes.values.contains(where: \.hasPicture) } }

    /// Sends this track's pictures in place of those before, in the same stream, without a new description (W3C webrtc
    /// `replaceTrack`). Without a track, viewers keep the last picture. With `sourceCanWait`, the source is held up while
    /// the encoder is busy, and none of its frames is replaced by a newer one.
    public func replaceTrack(with track: VideoTrack?, sourceCanWait: Bool = false) {
        let encodes = state.withLock { state -> [SendingRung] in
            guard !state.isStopped else { return [] }
            state.track = track
            state.hasBegun = false
            state.sourceCanWait = sourceCanWait
            state.isMuted = false
            state.isGlimpsed = false
            return Array(state.encodes.values)
        }
        guard !encodes.isEmpty else { return }
        for encode in encodes { show(track, on: encode, sourceCanWait: sourceCanWait) }
        tellDemand()
    }

    private func show(_ track: VideoTrack?, on encode: SendingRung, sourceCanWait: Bool) {
        // Who waits for the first encode holds the source up; the others take what they can.
        encode.show(track, sourceCanWait: sourceCanWait && encode.index == 0) { [weak self] isMuted in
            if encode.index == 0 { self?.muteDidChange(isMuted) }
        }
    }

    /// Sends what is encoded from now on to this connection too, as its media of this index; while a track is sent already,
    /// from the next key frame on, which is asked for. Where the path has less than all that is sent there would use,
    /// `priority` says who goes first.
    public func attach(_ connection: Connection, media: Int, priority: BitratePriority = .medium) {
        let destination = SendingRung.Destination(connection: connection, media: media, priority: priority)
        let id = ObjectIdentifier(connection)
        let now = Self.now
        let begun = state.withLock { state -> SendingRung? in
            state.viewers[id, default: Viewer()].destination = destination
            let share = state.viewers[id]?.limits?.share(of: state.wanted) ?? 1
            state.rungs.add(id, share: share, now: now)
            if let target = state.viewers[id]?.target {
                state.rungs.setRate(Int(clamping: target.bitrate.bitsPerSecond), of: id)
            }
            let rung = state.rungs.rung(of: id)
            guard let encode = self.encode(rung, in: &state) ?? state.encodes[0] else { return nil }
            if state.track == nil {
                encode.add(destination)
            } else {
                encode.join(destination, at: state.keyFrameTime(for: id, now: now))
            }
            // Those who held back all hold back but themselves, now that somebody is there who does not wait.
            state.withhold(in: rung, now: now)
            return encode.track !== state.track ? encode : nil
        }
        if let begun { show(on: [begun]) }
        applySettings()
        tellDemand(connection)
        glimpse()
    }

    /// Sends nothing more to this connection.
    public func detach(_ connection: Connection) {
        state.withLock { state in
            let viewer = state.viewers.removeValue(forKey: ObjectIdentifier(connection))
            if let destination = viewer?.destination { connection.setDemand(.zero, media: destination.media) }
            state.rungs.remove(ObjectIdentifier(connection))
            for encode in state.encodes.values { encode.remove(connection) }
        }
        // Who is left may be who there is to go by now.
        move(now: Self.now)
    }

    /// Keeps to what a connection's peer asks, from now on; with several that are sent the same, to the strictest of each,
    /// down to 320x180 at 5 frames a second. One that asks far more than others do is sent an encode of its own.
    public func keep(to limits: SendingLimits, of connection: Connection) {
        state.withLock { state in
            state.viewers[ObjectIdentifier(connection), default: Viewer()].limits = limits
            state.rungs.setShare(limits.share(of: state.wanted), of: ObjectIdentifier(connection))
        }
        move(now: Self.now)
        tellDemand(connection)
    }

    /// Keeps to what a connection's path has for this, from the next picture on; with several that are sent the same, to the
    /// least. While a connection's queue is full nothing is sent there, and where that is so of all nothing is encoded.
    public func keep(to target: BitrateTarget, of connection: Connection) {
        let viewer = ObjectIdentifier(connection)
        let isLargeRoom = state.withLock { state in
            let wasFull = state.viewers[viewer, default: Viewer()].isQueueFull
            state.viewers[viewer, default: Viewer()].target = target
            state.rungs.setRate(Int(clamping: target.bitrate.bitsPerSecond), of: viewer)
            if target.isQueueFull || wasFull { state.withhold(in: state.rungs.rung(of: viewer), now: Self.now) }
            return state.viewers.count > Self.largestSmallRoom
        }
        if isLargeRoom { followSoon(on: connection) } else { applySettings() }
    }

    /// Of so many viewers each is heard at once. Of more, whose paths change all the time, so many as change within
    /// ``followingInterval`` are heard together: each time all are looked at.
    private static let largestSmallRoom = 16
    private static let followingInterval = Duration.milliseconds(20)

    private func followSoon(on connection: Connection) {
        let isFirst = state.withLock { state in
            defer { state.followsSoon = true }
            return !state.followsSoon
        }
        guard isFirst else { return }
        connection.eventLoop.scheduleTask(in: TimeAmount(Self.followingInterval)) { [weak self] in
            self?.state.withLock { $0.followsSoon = false }
            self?.applySettings()
        }
    }

    /// A frame left an encoder: those who joined with it get nothing more from elsewhere. Called on the encoder's thread.
    private func didSend(from stream: Int, began: VideoTrack?, joined: [SendingRung.Destination]) {
        let now = Self.now
        let (isFirst, isDue) = state.withLock { state in
            for destination in joined {
                // Who was moved again meanwhile gets nothing more from here.
                let isHere = state.encode(of: ObjectIdentifier(destination.connection))?.stream == stream
                for encode in state.encodes.values where (encode.stream == stream) != isHere {
                    encode.remove(destination.connection)
                }
            }
            let isFirst = began != nil && began === state.track && !state.hasBegun
            if isFirst { state.hasBegun = true }
            let isDue = now >= state.lastMoves + Self.moveInterval && (state.viewers.count > 1 || state.rungs.isDivided)
            if isDue { state.lastMoves = now }
            return (isFirst, isDue)
        }
        if isFirst, let began { continuation.yield(.began(began)) }
        if isDue { move(now: now) }
    }

    /// Has viewers sent another rung, where that is called for: each with the rung's next key frame.
    private func move(now: Duration) {
        let begun = state.withLock { state -> [SendingRung] in
            guard !state.isStopped else { return [] }
            var begun: [SendingRung] = []
            for move in state.rungs.moves(now: now) {
                guard let encode = self.encode(move.rung, in: &state) else { return begun }
                if encode.track !== state.track { begun.append(encode) }
                guard let viewer = state.viewers[move.viewer], let destination = viewer.destination else { continue }
                if !viewer.isWithheld {
                    encode.join(destination, at: state.keyFrameTime(for: move.viewer, by: \.rejoining, now: now))
                }
            }
            return begun
        }
        show(on: begun)
        applySettings()
    }

    /// The encode of a rung, made where nobody was in it before; nil where the system has no thread for it.
    private func encode(_ rung: Int, in state: inout State) -> SendingRung? {
        if let encode = state.encodes[rung] { return encode }
        state.streams += 1
        state.encodes[rung] = try? makeEncode(rung, stream: state.streams, settings: state.wanted)
        return state.encodes[rung]
    }

    /// Has encodes show what the others do.
    private func show(on encodes: [SendingRung]) {
        guard !encodes.isEmpty else { return }
        let (track, sourceCanWait) = state.withLock { ($0.track, $0.sourceCanWait) }
        for encode in encodes { show(track, on: encode, sourceCanWait: sourceCanWait) }
    }

    /// How many encodes there are.
    var encodeCount: Int { state.withLock { $0.encodes.count } }

    /// What is wanted of the encoder, before the peers' limits.
    public var settings: VideoEncoderThread.Settings { state.withLock { $0.wanted } }

    /// Changes what is wanted of the running encoder.
    public func update(_ change: (inout VideoEncoderThread.Settings) -> Void) {
        state.withLock { state in
            change(&state.wanted)
            for (id, viewer) in state.viewers {
                if let limits = viewer.limits { state.rungs.setShare(limits.share(of: state.wanted), of: id) }
            }
        }
        applySettings()
        tellDemand()
    }

    private func muteDidChange(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            state.isGlimpsed = false
        }
        continuation.yield(.muteChanged)
        tellDemand()
    }

    /// How long the last picture of a muted track is sent to who needs it: until it is sharp.
    private static let glimpseTime = Duration.seconds(2)

    /// Has the last picture of a track that is muted sent once more: who has come, or has lost it, sees where it stands.
    private func glimpse() {
        let viewer = state.withLock { state -> Connection? in
            guard state.isMuted, !state.isGlimpsed,
                let viewer = state.viewers.values.compactMap(\.destination?.connection).first
            else { return nil }
            state.isGlimpsed = true
            return viewer
        }
        guard let viewer else { return }
        setEncodersMuted(false)
        tellDemand()
        viewer.eventLoop.scheduleTask(in: TimeAmount(Self.glimpseTime)) { [weak self] in self?.endGlimpse() }
    }

    private func endGlimpse() {
        let ends = state.withLock { state in
            defer { state.isGlimpsed = false }
            return state.isGlimpsed && state.isMuted
        }
        guard ends else { return }
        setEncodersMuted(true)
        tellDemand()
    }

    private func setEncodersMuted(_ isMuted: Bool) {
        for encode in state.withLock({ Array($0.encodes.values) }) { encode.encoder.muteDidChange(isMuted) }
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    /// Tells a connection, or each, what this would use of its path: nothing while there is nothing to show. In one piece,
    /// as ``applySettings()``.
    private func tellDemand(_ connection: Connection? = nil) {
        state.withLock { state in
            let concerned = connection.map { state.viewers[ObjectIdentifier($0)].map { [$0] } ?? [] }
            for viewer in concerned ?? Array(state.viewers.values) {
                guard let destination = viewer.destination else { continue }
                var demand = BitrateDemand.zero
                if state.track != nil, !state.isMuted || state.isGlimpsed {
                    let rate = DataRate.bitsPerSecond(max(state.wanted.bitsPerSecond, 0))
                    let maximum = min(rate, viewer.limits?.maximumBitrate ?? rate)
                    demand = BitrateDemand(
                        minimum: min(SendingLimits.leastBitrate, maximum), maximum: maximum,
                        priority: destination.priority)
                }
                destination.connection.setDemand(demand, media: destination.media)
            }
        }
    }

    /// Brings the encoders to what is wanted and allowed now, and ends those of rungs that nobody is in. In one piece with
    /// finding that out: of two who do so at the same time, the later has the last word.
    private func applySettings() {
        let unused = state.withLock { state in
            let unused = state.takeUnused()
            for encode in state.encodes.values {
                encode.encoder.apply(state.allowedSettings(of: encode.index, now: Self.now))
                encode.encoder.queueDidFill(state.isQueueFull(of: encode.index))
            }
            return unused
        }
        for encode in unused { encode.retire() }
    }

    /// Has the next frame that goes to this connection be a key frame, or to any where none is named; however many ask
    /// before it, one answers. Where others are sent the same, a connection that keeps asking waits. While the track is
    /// muted its last picture answers.
    public func requestKeyFrame(for connection: Connection? = nil) {
        let (encodes, time) = state.withLock { state in
            guard let connection else { return (Array(state.encodes.values), Duration.zero) }
            let id = ObjectIdentifier(connection)
            return (state.encode(of: id).map { [$0] } ?? [], state.keyFrameTime(for: id, now: Self.now))
        }
        for encode in encodes { encode.encoder.requestKeyFrame(notBefore: time) }
        glimpse()
    }

    /// Ends encoding, and returns when its threads have ended.
    public func stop() {
        replaceTrack(with: nil)
        let encodes = state.withLock { state in
            state.isStopped = true
            return Array(state.encodes.values)
        }
        for encode in encodes { encode.encoder.stop() }
        continuation.finish()
    }

    /// Completes a connection's report with what was encoded for its media of this index; where no connection is named,
    /// with what was for those of the best paths.
    public func complete(
        _ report: [StatisticsObject], media: Int, of connection: Connection? = nil
    ) -> [StatisticsObject] {
        let encode = state.withLock { state in
            connection.map { state.encode(of: ObjectIdentifier($0)) } ?? state.encodes[0]
        }
        guard let encode else { return report }
        return PipelineStatistics(encode.encoder.statistics, targetBitrate: encode.encoder.settings.bitsPerSecond)
            .complete(report, media: media)
    }
}
