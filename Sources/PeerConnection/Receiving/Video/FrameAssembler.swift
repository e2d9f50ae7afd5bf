package import RTCShareRTP
package import RTCShareWireFormat

/// Assembles the packets of a video stream into whole frames in decoding order. Packets can be reordered, duplicated,
/// late or lost.
///
///     awaiting key frame ──a key frame is complete──▶ following
///            ▲                                           │
///            └── a gap outlasts maximumWait, a malformed ┘
///                frame, no room, or the decoder asks
///
/// In the state following, every frame starts after the end of the previous one, by sequence number. A gap delays the
/// frames after it. After ``Configuration/skipDelay`` a later frame is returned without the gap if it can be decoded: a
/// key frame, or one whose references are complete according to its packets. Dropped frames and packets
/// are counted.
package struct FrameAssembler: Sendable {
    /// The limits of waiting and of memory.
    package struct Configuration: Hashable, Sendable {
        /// The time to wait for missing packets before a key frame is requested. If a queue is full, each request takes
        /// most of a second, and a key frame would extend the queue further. libwebrtc has the same limit.
        package var maximumWait = Duration.seconds(3)
        /// The time to wait for the rest of a key frame before another one is requested, while nothing can be shown.
        package var keyFrameWait = Duration.milliseconds(500)
        /// The time to wait for a gap while a later frame could be decoded without it.
        package var skipDelay = Duration.milliseconds(50)
        /// The minimum interval of searches for such a frame among many packets: each search reads all waiting packets,
        /// and new ones arrive all the time.
        package var searchInterval = Duration.milliseconds(10)
        /// The time without a decodable frame at the start of a stream after which a key frame is requested.
        package var startDelay = Duration.milliseconds(100)
        /// The maximum number of waiting packets, a power of two.
        package var packetCapacity = 2048
        /// The maximum number of waiting bytes.
        package var byteCapacity = 8 << 20

        /// Creates limits for a shared screen.
        package init() {}
    }

    /// The result for a packet.
    package enum Insertion: Hashable, Sendable {
        /// The packet was stored.
        case accepted
        /// The packet is a duplicate.
        case duplicate
        /// The packet's frame is past.
        case late
    }

    private enum State: Sendable {
        /// The state before a key frame. `isCertain` means that packets show that a key frame must be requested.
        case awaitingKeyFrame(since: Instant, isCertain: Bool)
        /// The state in which the next frame starts at `next`, and its packets are complete up to `cursor`.
        case following(next: Int64, cursor: Int64)
    }

    /// A key frame that has started, with `cursor` as in `State`.
    private struct KeyFrameStart: Sendable {
        var number: Int64
        var cursor: Int64
        var arrival: Instant
    }

    /// The number of frames with packets that will not be returned (`framesDropped`).
    package private(set) var framesDropped = 0
    /// The number of packets that were read in searches for a frame after a gap.
    private(set) var packetsSearched = 0
    /// The number of packets that arrived after their frame was given up (`packetsDiscarded`).
    package private(set) var packetsDiscarded = 0
    /// The number of duplicates.
    package private(set) var packetsDuplicated = 0

    private let configuration: Configuration
    private var buffer: PacketBuffer
    private var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
    private var state: State?
    private var keyFrameStarts: [KeyFrameStart] = []
    /// The frames that this input completed; taken before the next.
    private var completed: [AssembledFrame] = []
    private var continuity: FrameContinuity?
    /// The arrival time of the packets after the gap; nil if there is no gap, and before a key frame.
    private var blockedSince: Instant?
    /// The time of the next search for a frame after the gap; nil for immediately.
    private var nextSearch: Instant?
    /// Whether packets have arrived, or a frame after a gap was found, since a search without a result.
    private var isSearchWorthwhile = false
    /// The number below which no packet is accepted.
    private var floor = Int64.min
    /// The timestamp of the last frame counted as dropped, whose packets can be dropped one by one.
    private var lastDropped: RTPTimestamp?
    /// The orientation of frames until a packet changes it.
    private var quarterTurns = 0

    /// Creates an assembler without packets.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        buffer = PacketBuffer(capacity: configuration.packetCapacity)
    }

    /// The number of packets that wait for others.
    package var bufferedPackets: Int { buffer.packetCount }
    /// The number of bytes of those packets.
    package var bufferedBytes: Int { buffer.byteCount }

    /// Whether no frame decodes before the next key frame.
    package var isAwaitingKeyFrame: Bool {
        if case .following = state { false } else { state != nil }
    }

    /// The number from which packets are still useful. Missing ones before it need not be requested. It is nil before
    /// the first frame.
    package var firstUsefulNumber: SequenceNumber? {
        floor == .min ? nil : SequenceNumber(UInt16(truncatingIfNeeded: floor))
    }

    /// The next number of a frame whose last packets have not arrived, while no newer packet shows whether they are
    /// lost, and the arrival time of its latest packet.
    package var openTail: (next: SequenceNumber, since: Instant)? {
        guard let newest = buffer.newest, let last = buffer[newest], last.content != nil else { return nil }
        let cursor: Int64? =
            switch state {
            case .following(_, let cursor): cursor
            case .awaitingKeyFrame: keyFrameStarts.last?.cursor
            case nil: nil
            }
        guard cursor == newest + 1 else { return nil }
        return (SequenceNumber(UInt16(truncatingIfNeeded: newest + 1)), last.arrival)
    }

    /// Returns the next whole frame, in decoding order.
    package mutating func pollFrame() -> AssembledFrame? {
        completed.isEmpty ? nil : completed.removeFirst()
    }

    /// Stores the parts of a packet. `piece` is its piece of the frame.
    @discardableResult
    package mutating func insert(
        _ number: SequenceNumber, timestamp: RTPTimestamp, marker: Bool, content: PacketContent, piece: [UInt8],
        orientation: VideoOrientation? = nil, now: Instant
    ) -> Insertion {
        store(
            PacketBuffer.Slot(
                number: unwrapper.unwrap(number), timestamp: timestamp, marker: marker, content: content, piece: piece,
                arrival: now, orientation: orientation), now: now)
    }

    /// Records a packet without media (padding), whose number is not missing.
    @discardableResult
    package mutating func insertPadding(_ number: SequenceNumber, timestamp: RTPTimestamp, now: Instant) -> Insertion {
        store(
            PacketBuffer.Slot(
                number: unwrapper.unwrap(number), timestamp: timestamp, marker: false, content: nil, piece: [],
                arrival: now), now: now)
    }

    /// Records a packet whose payload can't be read. It will not arrive in another form, so that its frame is given up.
    @discardableResult
    package mutating func insertUnreadable(_ number: SequenceNumber, timestamp: RTPTimestamp, now: Instant) -> Insertion
    {
        store(
            PacketBuffer.Slot(
                number: unwrapper.unwrap(number), timestamp: timestamp, marker: false, content: nil, piece: [],
                isUnreadable: true, arrival: now), now: now)
    }

    /// Gives up frames that can't be completed in time. Call it at ``nextDeadline(now:)``.
    package mutating func poll(now: Instant) {
        passGaps(now: now)
        while let since = blockedSince, now - since >= configuration.maximumWait {
            awaitKeyFrame(now: now)
            passGaps(now: now)
        }
    }

    /// Handles missing packets that will not arrive: continues without them if possible, and otherwise waits for a key
    /// frame.
    mutating func giveUpGap(now: Instant) {
        guard blockedSince != nil else { return }
        if skipGap() { advance(now: now) } else { awaitKeyFrame(now: now) }
        poll(now: now)
    }

    /// Returns the next time at which ``poll(now:)`` or ``needsKeyFrame(now:)`` can change something, after a poll at
    /// `now`; nil while nothing is missing.
    package func nextDeadline(now: Instant) -> Instant? {
        switch state {
        case .following:
            guard let blockedSince else { return nil }
            let skip = blockedSince.advanced(by: configuration.skipDelay)
            if now < skip { return skip }
            let giveUp = blockedSince.advanced(by: configuration.maximumWait)
            return isSearchWorthwhile ? min(giveUp, nextSearch ?? now) : giveUp
        case .awaitingKeyFrame: return needsKeyFrame(now: now) ? nil : keyFrameDeadline
        case nil: return nil
        }
    }

    /// Whether the sender should receive a key frame request: no frame can be decoded, and no key frame is arriving.
    package func needsKeyFrame(now: Instant) -> Bool {
        keyFrameDeadline.map { now >= $0 } ?? false
    }

    /// Drops everything until the next key frame, because the decoder lost its state, or the numbers restarted.
    package mutating func awaitKeyFrame(now: Instant) {
        blockedSince = nil
        continuity = nil
        drop(before: keyFrameStarts.first?.number ?? (buffer.newest ?? floor) + 1)
        state = .awaitingKeyFrame(since: now, isCertain: true)
        advance(now: now)
    }

    /// Waits for a key frame in the same way as ``awaitKeyFrame(now:)``, in a stream whose sequence numbers restart.
    package mutating func restart(now: Instant) {
        keyFrameStarts.removeAll()
        awaitKeyFrame(now: now)
        buffer = PacketBuffer(capacity: configuration.packetCapacity)
        unwrapper = SerialNumberUnwrapper()
        floor = .min
    }

    /// The time from which the sender should receive a key frame request; nil while frames can be decoded.
    var keyFrameDeadline: Instant? {
        guard case .awaitingKeyFrame(let since, let isCertain) = state else { return nil }
        if let start = keyFrameStarts.last { return start.arrival.advanced(by: configuration.keyFrameWait) }
        return isCertain ? since : since.advanced(by: configuration.startDelay)
    }

    private mutating func store(_ slot: PacketBuffer.Slot, now: Instant) -> Insertion {
        guard !buffer.hasSeen(slot.number) else {
            packetsDuplicated += 1
            return .duplicate
        }
        guard slot.number >= floor else {
            packetsDiscarded += 1
            return .late
        }
        makeRoom(for: slot, now: now)
        buffer.insert(slot)
        isSearchWorthwhile = true
        if slot.startsKeyFrame { insertKeyFrameStart(slot.number, now: now) }
        switch state {
        case nil: state = .awaitingKeyFrame(since: now, isCertain: slot.startsFrame && !slot.startsKeyFrame)
        case .awaitingKeyFrame(let since, false)
        where slot.startsFrame && !slot.startsKeyFrame && keyFrameStarts.isEmpty:
            state = .awaitingKeyFrame(since: since, isCertain: true)
        default: break
        }
        advance(now: now)
        passGaps(now: now)
        return .accepted
    }

    /// The maximum number of started key frames. Each is checked with every packet, and the oldest of so many is
    /// unlikely to be completed.
    static let maximumKeyFrameStarts = 16

    private mutating func insertKeyFrameStart(_ number: Int64, now: Instant) {
        let place = keyFrameStarts.firstIndex { $0.number > number } ?? keyFrameStarts.count
        keyFrameStarts.insert(KeyFrameStart(number: number, cursor: number, arrival: now), at: place)
        if keyFrameStarts.count > Self.maximumKeyFrameStarts { keyFrameStarts.removeFirst() }
    }

    /// Keeps the packets within the ring, and their bytes within the limit.
    private mutating func makeRoom(for slot: PacketBuffer.Slot, now: Instant) {
        let lowest = slot.number - Int64(buffer.capacity) + 1
        if case .following(let next, _) = state, next < lowest { awaitKeyFrame(now: now) }
        if let newest = buffer.newest, newest - Int64(buffer.capacity) < lowest { drop(before: lowest) }
        if buffer.byteCount + slot.piece.count > configuration.byteCapacity {
            keyFrameStarts.removeAll()
            awaitKeyFrame(now: now)
        }
    }

    /// Returns every complete frame, and determines what delays the next one.
    private mutating func advance(now: Instant) {
        while true {
            switch state {
            case nil: return
            case .awaitingKeyFrame:
                guard let (start, last) = completeKeyFrame() else { return }
                drop(before: start)
                guard deliver(start...last, now: now) else { continue }
            case .following(var next, var cursor):
                while let slot = buffer[next], slot.isPadding {
                    next += 1
                    drop(before: next)
                }
                let run = buffer.run(from: next, cursor: &cursor)
                state = .following(next: next, cursor: cursor)
                switch run {
                case .complete(let last): guard deliver(next...last, now: now) else { continue }
                case .missing(next):
                    if let start = frameBehindGap(at: next) {
                        drop(before: start)
                        state = .following(next: start, cursor: start)
                        continue
                    }
                    blockedSince = buffer.arrival(after: next)
                    return
                case .missing(let number):
                    blockedSince = buffer.arrival(after: number)
                    return
                case .broken:
                    awaitKeyFrame(now: now)
                    return
                }
            }
        }
    }

    /// The maximum number of packets that are searched for a frame after a gap without frames: more than the
    /// corrections of one frame.
    private static let maximumEmptyGap: Int64 = 32

    /// Returns the start of the next frame if, according to its picture ID, there is none in the gap before it: padding
    /// or forward error correction was lost, which is not worth waiting for.
    private func frameBehindGap(at number: Int64) -> Int64? {
        guard let continuity, let newest = buffer.newest else { return nil }
        for next in number..<min(newest + 1, number + Self.maximumEmptyGap) {
            guard let content = buffer[next]?.content else { continue }
            return content.startsFrame && continuity.isFollowed(by: content) ? next : nil
        }
        return nil
    }

    private mutating func completeKeyFrame() -> (start: Int64, last: Int64)? {
        var broken: Set<Int64> = []
        defer { if !broken.isEmpty { keyFrameStarts.removeAll { broken.contains($0.number) } } }
        for index in keyFrameStarts.indices {
            let start = keyFrameStarts[index].number
            switch buffer.run(from: start, cursor: &keyFrameStarts[index].cursor) {
            case .complete(let last): return (start, last)
            case .missing: continue
            // Another key frame is requested without delay.
            case .broken: broken.insert(start)
            }
        }
        return nil
    }

    /// The number of packets whose search costs little compared with the arrival of a packet.
    static let cheapSearch = 128

    /// Skips every gap that has lasted long enough, if the frames after it can be decoded. Another gap can follow.
    private mutating func passGaps(now: Instant) {
        while let since = blockedSince, now - since >= configuration.skipDelay, search(now: now) { advance(now: now) }
    }

    /// Searches for a frame after the gap, if a search can find one now that an earlier search did not.
    private mutating func search(now: Instant) -> Bool {
        guard isSearchWorthwhile, nextSearch.map({ now >= $0 }) ?? true else { return false }
        let before = packetsSearched
        let isFound = skipGap()
        nextSearch = packetsSearched - before > Self.cheapSearch ? now.advanced(by: configuration.searchInterval) : nil
        return isFound
    }

    /// Skips the gap to the first whole frame that does not depend on it. Each waiting packet is read at most twice.
    private mutating func skipGap() -> Bool {
        guard case .following(let next, let cursor) = state, let continuity, let newest = buffer.newest else {
            return false
        }
        var gap = continuity.gap
        var start = next
        // The packets up to here were already read, for example those of an incomplete frame.
        var followed = cursor
        while start <= newest {
            packetsSearched += 1
            guard let content = buffer[start]?.content else {
                start += 1
                continue
            }
            if start > followed, content.startsFrame {
                var end = start
                let run = buffer.run(from: start, cursor: &end)
                packetsSearched += Int(end - start)
                followed = end
                if case .complete(let last) = run {
                    if content.startsKeyFrame || continuity.canSkip(to: content, over: gap) {
                        drop(before: start)
                        // Not every format shows whether the frame is a key frame before the frame is whole.
                        if content.startsKeyFrame { self.continuity = nil }
                        state = .following(next: start, cursor: end)
                        return true
                    }
                    followed = last
                }
            }
            gap.add(content)
            start += 1
        }
        isSearchWorthwhile = false
        return false
    }

    /// Creates a frame from whole packets. Returns false if they are not a valid frame, and a key frame is needed.
    private mutating func deliver(_ range: ClosedRange<Int64>, now: Instant) -> Bool {
        var pieces: [[UInt8]] = []
        var firstArrival = now
        var completion = Instant(nanoseconds: .min)
        for number in range {
            guard let slot = buffer[number], slot.content != nil else { continue }
            pieces.append(slot.piece)
            firstArrival = min(firstArrival, slot.arrival)
            completion = max(completion, slot.arrival)
            if let orientation = slot.orientation { quarterTurns = orientation.quarterTurns }
        }
        let first = buffer[range.lowerBound]
        var unused = first?.timestamp
        _ = buffer.remove(floor..<range.upperBound + 1, after: &unused)
        floor = range.upperBound + 1
        keyFrameStarts.removeAll { $0.number < floor }
        blockedSince = nil
        guard let first, let content = first.content, let data = try? content.format.join(pieces),
            let header = try? content.format.header(of: data.span.bytes),
            header.isKeyFrame || continuity?.format === content.format
        else {
            framesDropped += 1
            state = .awaitingKeyFrame(since: now, isCertain: true)
            return false
        }
        completed.append(
            AssembledFrame(
                data: data, format: content.format, header: header, timestamp: first.timestamp,
                pictureID: content.pictureID, packetCount: pieces.count, firstArrival: firstArrival,
                completion: completion, quarterTurns: quarterTurns))
        continuity = FrameContinuity(content)
        state = .following(next: floor, cursor: floor)
        return true
    }

    private mutating func drop(before number: Int64) {
        guard number > floor else { return }
        framesDropped += buffer.remove(floor..<number, after: &lastDropped)
        floor = number
        keyFrameStarts.removeAll { $0.number < number }
    }
}
