internal import RTCShareLocks
public import RTCShareMedia
internal import RTCShareNetworkRuntime
package import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
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
        /// By receiver.
        var views: [Int: TileView] = [:]
        /// The receiver whose tile is being announced: the key frame that began it is still to be given to its view.
        var beginning: Int?
        /// Sinks for whatever tiles come.
        var standing: [StandingSink] = []
        /// What records whatever tiles come.
        var recordings: [RecordingSource] = []
        /// Told whenever there is another ``VideoTileController/tiles``, by number.
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var readersSoFar = 0
        var hasEnded = false
    }

    /// A sink that is bound to each tile of a modality.
    private struct StandingSink {
        let sink: any VideoSink
        let modality: AttendeeID.Modality
    }

    private let connection: Connection
    private let state = Locked(State())
    private let observers = ObserverList<any VideoTileObserver>()

    init(connection: Connection) {
        self.connection = connection
    }

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
            if !state.hasEnded { state.standing.append(StandingSink(sink: sink, modality: modality)) }
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
        let (view, isBeginning) = try view(ofTile: id)
        do {
            try view.bind(sink, isBeginning: isBeginning)
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Gives `body` each encoded frame of a tile as it arrives: to record it without encoding it anew.
    package func bindEncoded(
        toTile id: Int, _ body: @escaping @Sendable (AssembledFrame) -> Void
    ) throws(VideoTileError) {
        let (view, isBeginning) = try view(ofTile: id)
        view.bind(encoded: body, isBeginning: isBeginning)
    }

    /// Records each tile, of those that there are and of those that come, as it arrives.
    func record(to source: RecordingSource) {
        let present = state.withLock { state in
            if !state.hasEnded { state.recordings.append(source) }
            return state.list.tiles
        }
        for tile in present { record(tile, to: source) }
    }

    private func record(_ tile: VideoTileState, to source: RecordingSource) {
        // It may have gone meanwhile.
        guard let (view, isBeginning) = try? view(ofTile: tile.tileID) else { return }
        let take = source.picture(
            name: tile.attendeeID.rawValue, isMain: tile.isContent, requestKeyFrame: view.requestKeyFrame)
        let clock = Locked(SerialNumberUnwrapper<RTPTimestamp>())
        view.bind(
            encoded: { frame in
                let ticks = clock.withLock { $0.unwrap(frame.timestamp) }
                take(
                    frame.data, frame.quarterTurns,
                    MediaTimes(
                        media: .seconds(1) * ticks / PacketizedFrame.clockRate, capture: frame.captureTime,
                        arrival: .nanoseconds(frame.completion.nanoseconds)))
            }, isBeginning: isBeginning)
    }

    /// Gives `sink` no more pictures of a tile; the tile's other sinks go on.
    public func unbind(_ sink: any VideoSink, fromTile id: Int) {
        let view = state.withLock { state in state.list.receiver(ofTile: id).flatMap { state.views[$0] } }
        view?.unbind(sink)
    }

    /// Gives `sink` no more pictures, of whatever tile.
    public func unbind(_ sink: any VideoSink) {
        let views = state.withLock { state in
            state.standing.removeAll { $0.sink === sink }
            return Array(state.views.values)
        }
        for view in views { view.unbind(sink) }
    }

    /// Gives the sinks of a tile nothing more.
    public func unbind(tile id: Int) {
        let view = state.withLock { state -> TileView? in
            guard let receiver = state.list.receiver(ofTile: id) else { return nil }
            return state.views.removeValue(forKey: receiver)
        }
        view?.endSinks()
        view?.end()
    }

    /// Has a tile stand still here: its pictures are not decoded until ``resume(tile:)``.
    public func pause(tile id: Int) {
        tell(state.withLock { $0.list.setPausedByUser(true, tile: id) })
    }

    /// Has a paused tile go on.
    public func resume(tile id: Int) {
        let (events, view) = state.withLock { state in
            let view = state.list.receiver(ofTile: id).flatMap { state.views[$0] }
            return (state.list.setPausedByUser(false, tile: id), view)
        }
        if !events.isEmpty { view?.requestKeyFrame() }
        tell(events)
    }

    /// The id of the object of a report that is about a tile's pictures; nil where there is no such tile.
    package func statisticsID(ofTile id: Int) -> String? {
        state.withLock { $0.list.receiver(ofTile: id) }.map { StatisticsObject.inboundID(receiver: $0) }
    }

    /// Completes a connection's report with what was decoded.
    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        state.withLock { $0.views }.reduce(report) { $1.value.complete($0) }
    }

    // MARK: What the connection tells

    func update(_ media: [RemoteMedia]) async {
        let events = state.withLock { $0.list.update(media) }
        await dropViewsWithoutTile()
        tell(events)
    }

    func receive(_ frame: AssembledFrame, receiver: Int) {
        let size = frame.size.map { PixelSize(width: $0.width, height: $0.height).turned(quarters: frame.quarterTurns) }
        let events = state.withLock { state in
            let events = state.list.frameArrived(receiver: receiver, size: size)
            if case .didAdd = events.first { state.beginning = receiver }
            return events
        }
        tell(events)
        let (view, isPaused) = state.withLock { state in
            state.beginning = nil
            return (state.views[receiver], state.list.isPausedByUser(receiver: receiver))
        }
        if isPaused { view?.skip() } else { view?.receive(frame) }
    }

    func activityChanged(_ activity: ReceiverActivity, receiver: Int) async {
        let events = state.withLock { $0.list.activityChanged(activity, receiver: receiver) }
        await dropViewsWithoutTile()
        tell(events)
    }

    func end() async {
        let (events, readers) = state.withLock { state in
            state.hasEnded = true
            state.standing = []
            state.recordings = []
            return (state.list.end(), Array(state.readers.values))
        }
        await dropViewsWithoutTile()
        tell(events)
        for reader in readers { reader.finish() }
    }

    private func view(ofTile id: Int) throws(VideoTileError) -> (TileView, isBeginning: Bool) {
        let connection = connection
        let found = state.withLock { state -> (view: TileView, isPaused: Bool, isBeginning: Bool)? in
            guard let receiver = state.list.receiver(ofTile: id), let tile = state.list.tile(ofReceiver: receiver)
            else { return nil }
            let view =
                state.views[receiver]
                ?? TileView(receiver: receiver) {
                    Task { await connection.requestKeyFrame(ofReceiver: receiver) }
                }
            state.views[receiver] = view
            return (view, tile.pauseState != .unpaused, state.beginning == receiver)
        }
        guard let found else { throw .unknownTile(id) }
        found.view.setPaused(found.isPaused)
        return (found.view, found.isBeginning)
    }

    private func tell(_ events: [VideoTileList.Event]) {
        for event in events {
            switch event {
            case .didAdd(let tile):
                let (sinks, recordings) = state.withLock { state in
                    (state.standing.filter { $0.modality == tile.attendeeID.modality }, state.recordings)
                }
                for standing in sinks { bindStanding(standing.sink, to: tile) }
                for source in recordings where source.recorder.isOpen { record(tile, to: source) }
                observers.forEach { $0.videoTileDidAdd(tile) }
            case .didPause(let tile):
                setPaused(true, tile)
                observers.forEach { $0.videoTileDidPause(tile) }
            case .didResume(let tile):
                setPaused(false, tile)
                observers.forEach { $0.videoTileDidResume(tile) }
            case .sizeDidChange(let tile): observers.forEach { $0.videoTileSizeDidChange(tile) }
            case .subgroupDidChange(let tile): observers.forEach { $0.videoTileSubgroupDidChange(tile) }
            case .didRemove(let tile): observers.forEach { $0.videoTileDidRemove(tile) }
            }
        }
        guard !events.isEmpty else { return }
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }

    private func setPaused(_ isPaused: Bool, _ tile: VideoTileState) {
        state.withLock { state in state.list.receiver(ofTile: tile.tileID).flatMap { state.views[$0] } }?
            .setPaused(isPaused)
    }

    /// Ends the views of tiles that are gone, and returns when their sinks have all that arrived.
    private func dropViewsWithoutTile() async {
        let dropped = state.withLock { state -> [TileView] in
            let gone = state.views.keys.filter { state.list.tile(ofReceiver: $0) == nil }
            return gone.compactMap { state.views.removeValue(forKey: $0) }
        }
        for view in dropped { await view.end()?.finish() }
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
        case .unknownTile(let id): "there is no tile \(id); bind when videoTileDidAdd tells of it, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

extension PixelSize {
    fileprivate func turned(quarters: Int) -> PixelSize {
        quarters % 2 == 0 ? self : PixelSize(width: height, height: width)
    }
}
