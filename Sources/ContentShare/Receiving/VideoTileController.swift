internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareStreams
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The pictures that a peer sends, as tiles that sinks can be bound to.
///
/// What nobody looks at is not decoded: a tile costs a decoder from its first sink on.
///
/// The content that a peer shares, on a sink from its first picture on:
///
///     session.tiles.bind(sink, to: .content)
public final class VideoTileController: Sendable {
    private struct State {
        var list = VideoTileList()
        /// The receivers of the tiles, by their indices.
        var receivers: [Int: VideoReceiver] = [:]
        /// Sinks that are bound to each tile of a modality.
        var standing: [(sink: any VideoSink, modality: AttendeeID.Modality)] = []
        /// What records whatever tiles come.
        var recordings: [RecordingSource] = []
        /// Told whenever there is another ``VideoTileController/tiles``, by number.
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var readersSoFar = 0
        var hasEnded = false

        /// The receiver of a tile's pictures.
        func receiver(ofTile id: Int) -> VideoReceiver? { list.receiver(ofTile: id).flatMap { receivers[$0] } }
    }

    private let state = Locked(State())
    private let observers = ObserverList<any VideoTileObserver>()

    init() {}

    deinit {
        for reader in state.withLock({ $0.readers.values }) { reader.finish() }
    }

    /// Tells `observer` of tiles from now on.
    public func add(observer: any VideoTileObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any VideoTileObserver) { observers.remove(observer) }

    /// The tiles that there are, oldest first.
    public var tiles: [VideoTileState] { state.withLock { $0.list.tiles } }

    /// The tiles as they stand: at once, and again whenever one comes or goes, stands still, goes on, has another size or another subgroup,
    /// until the session is over. Each reader has its own; one that reads late is given the newest alone.
    public var updates: some AsyncSequence<[VideoTileState], Never> & Sendable {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.readersSoFar += 1
            state.readers[state.readersSoFar] = continuation
            return state.readersSoFar
        }
        continuation.yield()
        if let number {
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[number] = nil } }
        } else {
            continuation.finish()
        }
        // Whoever reads keeps no session alive.
        return changes.map { [weak self] in self?.tiles ?? [] }
    }

    /// Gives `sink` all pictures of each tile that is an attendee's own, or content: of those that there are, and of those
    /// that come, each from its first picture on. Where its decoder can't be made, the sink is told so as the source's end.
    public func bind(_ sink: any VideoSink, to modality: AttendeeID.Modality) {
        let present = state.withLock { state in
            if !state.hasEnded { state.standing.append((sink, modality)) }
            return state.list.tiles
        }
        for tile in present where tile.attendeeID.modality == modality { bindStanding(sink, to: tile) }
    }

    private func bindStanding(_ sink: any VideoSink, to tile: VideoTileState) {
        do throws(VideoTileError) {
            try bind(sink, toTile: tile.tileID)
        } catch {
            switch error {
            // It went meanwhile.
            case .unknownTile: return
            case .decoder: sink.sourceDidEnd(error: error)
            }
        }
    }

    /// Gives `sink` the pictures of a tile: from the next one on where the tile is decoded already, else from the next
    /// one that can be decoded on its own, which the sender is asked for.
    public func bind(_ sink: any VideoSink, toTile id: Int) throws(VideoTileError) {
        let receiver = try receiver(ofTile: id)
        do {
            try receiver.add(sink)
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records each tile, of those that there are and of those that come, as it arrives.
    func record(to source: RecordingSource) {
        let (present, before) = state.withLock { state in
            let before = state.recordings
            if !state.hasEnded { state.recordings = before.filter(\.recorder.isOpen) + [source] }
            return (state.list.tiles, before)
        }
        for tile in present { record(tile, to: source) }
        // A recorder that nobody else has is freed after the lock is.
        withExtendedLifetime(before) {}
    }

    private func record(_ tile: VideoTileState, to source: RecordingSource) {
        // It may have gone meanwhile.
        guard let receiver = try? receiver(ofTile: tile.tileID) else { return }
        let take = source.picture(
            name: tile.attendeeID.label, isMain: tile.isContent, requestKeyFrame: receiver.requestKeyFrame)
        let clock = Locked(SerialNumberUnwrapper<RTPTimestamp>())
        let end = receiver.record { frame in
            let ticks = clock.withLock { $0.unwrap(frame.timestamp) }
            take(
                frame.data, frame.quarterTurns,
                MediaTimes(
                    media: .seconds(1) * ticks / PacketizedFrame.clockRate, capture: frame.captureTime,
                    arrival: .nanoseconds(frame.completion.nanoseconds)))
        }
        source.recorder.onEnd(end)
    }

    /// Gives `sink` no more pictures of a tile; the tile's other sinks go on. One that it takes on the decoder's thread at this
    /// moment is its last.
    public func unbind(_ sink: any VideoSink, fromTile id: Int) {
        state.withLock { $0.receiver(ofTile: id) }?.remove(sink)
    }

    /// Gives `sink` no more pictures, of whatever tile.
    public func unbind(_ sink: any VideoSink) {
        let receivers = state.withLock { state in
            state.standing.removeAll { $0.sink === sink }
            return Array(state.receivers.values)
        }
        for receiver in receivers { receiver.remove(sink) }
    }

    /// Gives the sinks of a tile their end, and nothing more but a picture that they take on the decoder's thread at this moment.
    public func unbind(tile id: Int) {
        state.withLock { $0.receiver(ofTile: id) }?.removeSinks()
    }

    /// Pauses a tile here: its pictures are not decoded until ``resume(tile:)``.
    public func pause(tile id: Int) { setPausedByUser(true, tile: id) }

    /// Resumes a paused tile.
    public func resume(tile id: Int) { setPausedByUser(false, tile: id) }

    private func setPausedByUser(_ isPaused: Bool, tile id: Int) {
        let events = state.withLock { state in
            let events = state.list.setPausedByUser(isPaused, tile: id)
            // Under the lock, so that the last of several callers decides both.
            state.receiver(ofTile: id)?.setPaused(isPaused)
            return events
        }
        tell(events)
    }

    /// The index of the receiver of a tile's video; nil if there is no such tile.
    package func receiverIndex(ofTile id: Int) -> Int? { state.withLock { $0.list.receiver(ofTile: id) } }

    // MARK: What the connection tells

    func handle(_ event: MediaEvent) async {
        switch event {
        case .remoteMediaChanged(let media): await change { $0.update(media) }
        case .frameSizeChanged(let size, let receiver): await frameSizeChanged(size, receiver)
        case .activityChanged(let activity, let receiver):
            await change { $0.activityChanged(activity, receiver: receiver) }
        case .soundBegan: break
        }
    }

    func end() async {
        let (readers, _, _) = state.withLock { state in
            defer { (state.hasEnded, state.standing, state.recordings) = (true, [], []) }
            // Sinks that nobody else has are freed after the lock is.
            return (Array(state.readers.values), state.standing, state.recordings)
        }
        await change { $0.end() }
        for reader in readers { reader.finish() }
    }

    private func frameSizeChanged(_ size: PixelSize, _ receiver: VideoReceiver) async {
        let index = receiver.index
        if state.withLock({ $0.receivers[index].map { $0 !== receiver } ?? false }) {
            await change { $0.activityChanged(.ended, receiver: index) }
        }
        let (events, recordings) = state.withLock { state in
            let events = state.list.frameArrived(receiver: index, size: size)
            if state.list.tile(ofReceiver: index) != nil { state.receivers[index] = receiver }
            return (events, state.recordings)
        }
        tell(events, recordedBy: recordings)
        receiver.announced()
    }

    /// Changes the tiles, and returns when the sinks of those that are gone have all that arrived.
    private func change(_ body: (inout VideoTileList) -> [VideoTileList.Event]) async {
        let (events, finished) = state.withLock { state in
            let events = body(&state.list)
            let gone = state.receivers.keys.filter { state.list.tile(ofReceiver: $0) == nil }
            return (events, gone.compactMap { state.receivers.removeValue(forKey: $0) })
        }
        for receiver in finished { await receiver.finish() }
        tell(events)
    }

    /// The receiver of a tile's pictures.
    func receiver(ofTile id: Int) throws(VideoTileError) -> VideoReceiver {
        guard let receiver = state.withLock({ $0.receiver(ofTile: id) }) else { throw .unknownTile(id) }
        return receiver
    }

    /// Notifies the observers. New tiles are recorded by those who did so when the tiles were listed: later ones find them.
    private func tell(_ events: [VideoTileList.Event], recordedBy recordings: [RecordingSource] = []) {
        for event in events {
            switch event {
            case .didAdd(let tile):
                let sinks = state.withLock { $0.standing.filter { $0.modality == tile.attendeeID.modality } }
                for standing in sinks { bindStanding(standing.sink, to: tile) }
                for source in recordings where source.recorder.isOpen { record(tile, to: source) }
                observers.forEach { $0.videoTileDidAdd(tile) }
            case .didPause(let tile):
                setMuted(true, tile)
                observers.forEach { $0.videoTileDidPause(tile) }
            case .didResume(let tile):
                setMuted(false, tile)
                observers.forEach { $0.videoTileDidResume(tile) }
            case .sizeDidChange(let tile): observers.forEach { $0.videoTileSizeDidChange(tile) }
            case .subgroupDidChange(let tile): observers.forEach { $0.videoTileSubgroupDidChange(tile) }
            case .didRemove(let tile): observers.forEach { $0.videoTileDidRemove(tile) }
            }
        }
        guard !events.isEmpty else { return }
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }

    private func setMuted(_ isMuted: Bool, _ tile: VideoTileState) {
        state.withLock { $0.receiver(ofTile: tile.tileID) }?.setMuted(isMuted)
    }
}

/// Why a sink can't be bound to a tile.
public enum VideoTileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no tile with this number, or no more.
    case unknownTile(Int)
    /// The decoder can't be made.
    case decoder(String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unknownTile(let id): "there is no tile \(id): bind it in videoTileDidAdd, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}
