internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The videos that a peer sends, as tiles to which sinks can be bound.
///
/// A tile without a sink is not decoded, and has no decoder.
///
/// This line passes the peer's content to a sink, from its first frame on:
///
///     session.tiles.bind(sink, to: .content)
@SharingActor public final class VideoTileController {
    private var list = VideoTileList()
    /// The receivers of the tiles, by their indices.
    private var receivers: [Int: VideoReceiver] = [:]
    /// The sinks that are bound to every tile of a modality.
    private var standing: [(sink: any VideoSink, modality: AttendeeID.Modality)] = []
    /// The recorders of all tiles.
    private var recordings: [RecordingSource] = []
    /// The readers of ``updates``.
    private let readers = ObserverList<PendingEvents<Newest<[VideoTileState]>>>()
    private var hasEnded = false
    private nonisolated let observers = ObserverList<any VideoTileObserver>()

    nonisolated init() {}

    deinit { readers.forEach { $0.finish() } }

    /// Notifies `observer` of tiles from now on.
    public nonisolated func add(observer: any VideoTileObserver) { observers.add(observer) }

    /// Stops notifying `observer`.
    public nonisolated func remove(observer: any VideoTileObserver) { observers.remove(observer) }

    /// The current tiles, oldest first.
    public var tiles: [VideoTileState] { list.tiles }

    /// The current tiles, and the tiles after each change, until the session ends. Each call returns a new sequence,
    /// for one reader. A slow reader gets only the newest tiles.
    public var updates: some AsyncSequence<[VideoTileState], Never> & Sendable {
        let reader = PendingEvents<Newest<[VideoTileState]>>()
        reader.append(Newest(value: tiles))
        if hasEnded { reader.finish() } else { readers.add(reader) }
        return reader.stream.map(\.value)
    }

    /// Passes all frames of every tile of a modality to `sink`, including tiles that are added later. If a decoder
    /// can't be created, the sink gets the error as the end of its source.
    public func bind(_ sink: any VideoSink, to modality: AttendeeID.Modality) {
        if !hasEnded { standing.append((sink, modality)) }
        for tile in tiles where tile.attendeeID.modality == modality { bindStanding(sink, to: tile) }
    }

    private func bindStanding(_ sink: any VideoSink, to tile: VideoTileState) {
        do throws(VideoTileError) {
            try bind(sink, toTile: tile.tileID)
        } catch {
            sink.sourceDidEnd(error: error)
        }
    }

    /// Passes the frames of a tile to `sink`. If the tile is decoded already, the next frame is the first. Otherwise a
    /// key frame is requested, and is the first.
    public func bind(_ sink: any VideoSink, toTile id: Int) throws(VideoTileError) {
        guard let receiver = receiver(ofTile: id) else { throw .unknownTile(id) }
        do {
            try receiver.add(sink)
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records each tile, including those that are added later, as it arrives.
    func record(to source: RecordingSource) {
        recordings.removeAll { !$0.recorder.isOpen }
        if !hasEnded { recordings.append(source) }
        for tile in tiles { record(tile, to: source) }
    }

    private func record(_ tile: VideoTileState, to source: RecordingSource) {
        guard let receiver = receiver(ofTile: tile.tileID) else { return }
        let take = source.picture(
            name: tile.attendeeID.label, isMain: tile.isContent, requestKeyFrame: receiver.requestKeyFrame)
        let clock = Locked(SerialNumberUnwrapper<RTPTimestamp>())
        let end = receiver.record { frame in
            let ticks = clock.withLock { $0.unwrap(frame.timestamp) }
            take(
                RecordedFrame(data: frame.data, format: frame.format, quarterTurns: frame.quarterTurns),
                MediaTimes(
                    media: .seconds(1) * ticks / PacketizedFrame.clockRate, capture: frame.captureTime,
                    arrival: .nanoseconds(frame.completion.nanoseconds)))
        }
        source.recorder.onEnd(end)
    }

    /// Stops passing frames of a tile to `sink`. The tile's other sinks continue. A frame that the decoder's thread is
    /// passing now is the last.
    public func unbind(_ sink: any VideoSink, fromTile id: Int) { receiver(ofTile: id)?.remove(sink) }

    /// Stops passing frames of all tiles to `sink`.
    public func unbind(_ sink: any VideoSink) {
        standing.removeAll { $0.sink === sink }
        for receiver in receivers.values { receiver.remove(sink) }
    }

    /// Removes all sinks of a tile, which get their end. A frame that the decoder's thread is passing now is the last.
    public func unbind(tile id: Int) { receiver(ofTile: id)?.removeSinks() }

    /// Pauses a tile on this side: its frames are not decoded until ``resume(tile:)``.
    public func pause(tile id: Int) { setPausedByUser(true, tile: id) }

    /// Resumes a paused tile.
    public func resume(tile id: Int) { setPausedByUser(false, tile: id) }

    private func setPausedByUser(_ isPaused: Bool, tile id: Int) {
        receiver(ofTile: id)?.setPaused(isPaused)
        notify(list.setPausedByUser(isPaused, tile: id))
    }

    /// Returns the index of the receiver of a tile's video. Nil if there is no such tile.
    package func receiverIndex(ofTile id: Int) -> Int? { list.receiver(ofTile: id) }

    func receiver(ofTile id: Int) -> VideoReceiver? { list.receiver(ofTile: id).flatMap { receivers[$0] } }

    // MARK: Events of the connection

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
        hasEnded = true
        standing = []
        recordings = []
        await change { $0.end() }
        readers.forEach { $0.finish() }
    }

    private func frameSizeChanged(_ size: PixelSize, _ receiver: VideoReceiver) async {
        let index = receiver.index
        if let known = receivers[index], known !== receiver {
            await change { $0.activityChanged(.ended, receiver: index) }
        }
        let events = list.frameArrived(receiver: index, size: size)
        if list.tile(ofReceiver: index) != nil { receivers[index] = receiver }
        notify(events)
        receiver.announced()
    }

    /// Changes the tiles, and returns after the sinks of removed tiles got all frames that arrived.
    private func change(_ body: (inout VideoTileList) -> [VideoTileList.Event]) async {
        let events = body(&list)
        let removed = receivers.keys.filter { list.tile(ofReceiver: $0) == nil }
        for receiver in removed.compactMap({ receivers.removeValue(forKey: $0) }) { await receiver.finish() }
        notify(events)
    }

    private func notify(_ events: [VideoTileList.Event]) {
        for event in events {
            switch event {
            case .didAdd(let tile):
                for (sink, modality) in standing where modality == tile.attendeeID.modality {
                    bindStanding(sink, to: tile)
                }
                for source in recordings where source.recorder.isOpen { record(tile, to: source) }
                observers.forEach { $0.videoTileDidAdd(tile) }
            case .didPause(let tile):
                receiver(ofTile: tile.tileID)?.setMuted(true)
                observers.forEach { $0.videoTileDidPause(tile) }
            case .didResume(let tile):
                receiver(ofTile: tile.tileID)?.setMuted(false)
                observers.forEach { $0.videoTileDidResume(tile) }
            case .sizeDidChange(let tile): observers.forEach { $0.videoTileSizeDidChange(tile) }
            case .subgroupDidChange(let tile): observers.forEach { $0.videoTileSubgroupDidChange(tile) }
            case .didRemove(let tile): observers.forEach { $0.videoTileDidRemove(tile) }
            }
        }
        guard !events.isEmpty else { return }
        let newest = Newest(value: tiles)
        readers.forEach { $0.append(newest) }
    }
}

/// A state of which a slow reader gets only the newest.
struct Newest<Value: Sendable>: QueuedEvent {
    let value: Value

    func outdates(_ old: Self) -> Bool { true }
}

/// The reason why a sink can't be bound to a tile.
public enum VideoTileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no tile with this number, or it was removed.
    case unknownTile(Int)
    /// The decoder can't be created.
    case decoder(String)

    /// The problem with its remedy.
    public var description: String {
        switch self {
        case .unknownTile(let id): "there is no tile \(id): bind it in videoTileDidAdd, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}
