package import RTCShareRTP
package import RTCShareWireFormat

/// Makes whole frames in decoding order of the packets of a VP8 stream (RFC 7741), which may come in any order, twice,
/// late, or not at all.
///
///     awaiting key frame ──a key frame is complete──▶ following
///            ▲                                           │
///            └── a gap outlasts maximumWait, a malformed ┘
///                frame, no room, or the decoder asks
///
/// While following, every frame begins where the one before it ended, by sequence number. A gap holds the frames after
/// it back. After ``Configuration/skipDelay`` a later frame goes on without the gap if it can be decoded so: a key
/// frame, or by picture id and TL0PICIDX one whose references are all there. What is thrown away is counted.
package struct VP8FrameAssembler: Sendable {
    /// The limits of waiting and of memory.
    package struct Configuration: Hashable, Sendable {
        /// How long missing packets are waited for before a key frame is asked for. Where a queue is full, each time that
        /// they are asked for takes most of a second, and a key frame makes it longer still (libwebrtc waits as long).
        package var maximumWait = Duration.seconds(3)
        /// How long a key frame that has begun is waited for before another is asked for: there is nothing to show yet.
        package var keyFrameWait = Duration.milliseconds(500)
        /// How long a gap is waited for while a later frame could be decoded without it.
        package var skipDelay = Duration.milliseconds(50)
        /// The least time between two searches for such a frame among many packets: each reads all that wait, and more
        /// come all the time.
        package var searchInterval = Duration.milliseconds(10)
        /// How long a stream of which nothing decodable has come yet may take before a key frame is asked for.
        package var startDelay = Duration.milliseconds(100)
        /// The packets that can wait, a power of two.
        package var packetCapacity = 2048
        /// The bytes that can wait.
        package var byteCapacity = 8 << 20

        /// The values that suit a shared screen.
        package init() {}
    }

    /// What became of a packet.
    package enum Insertion: Hashable, Sendable {
        /// It was taken.
        case accepted
        /// It had come already.
        case duplicate
        /// Its frame is past.
        case late
    }

    private enum State: Sendable {
        /// Nothing can be decoded. `isCertain`: packets show that a key frame has to be asked for.
        case awaitingKeyFrame(since: Instant, isCertain: Bool)
        /// The next frame begins at `next`; `cursor` is how far its packets were followed.
        case following(next: Int64, cursor: Int64)
    }

    /// A key frame that has begun, `cursor` as in `State`.
    private struct KeyFrameStart: Sendable {
        var number: Int64
        var cursor: Int64
        var arrival: Instant
    }

    /// Frames of which packets came and that will not be returned (`framesDropped`).
    package private(set) var framesDropped = 0
    /// Packets that were looked at in search of a frame behind a gap.
    private(set) var packetsSearched = 0
    /// Packets that came after their frame was given up (`packetsDiscarded`).
    package private(set) var packetsDiscarded = 0
    /// Second copies of packets.
    package private(set) var packetsDuplicated = 0

    private let configuration: Configuration
    private var buffer: VP8PacketBuffer
    private var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
    private var state: State?
    private var keyFrameStarts: [KeyFrameStart] = []
    /// The frames that this input completed; taken before the next.
    private var completed: [AssembledFrame] = []
    private var continuity: VP8Continuity?
    /// When what a gap holds back came; nil where there is none, and while nothing is followed.
    private var blockedSince: Instant?
    /// When a way past a gap may be searched for again; nil for at once.
    private var nextSearch: Instant?
    /// Whether packets have come, or a way past a gap was found, since a search found none.
    private var isSearchWorthwhile = false
    /// No number below this is taken any more.
    private var floor = Int64.min
    /// The timestamp of the frame counted last as dropped, whose packets may be dropped one by one.
    private var lastDropped: RTPTimestamp?
    /// How the pictures stand until a packet says otherwise.
    private var quarterTurns = 0

    /// An assembler that has seen no packet.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        buffer = VP8PacketBuffer(capacity: configuration.packetCapacity)
    }

    /// Packets that wait for others.
    package var bufferedPackets: Int { buffer.packetCount }
    /// The bytes of those packets.
    package var bufferedBytes: Int { buffer.byteCount }

    /// Whether nothing decodes before the next key frame.
    package var isAwaitingKeyFrame: Bool {
        if case .following = state { false } else { state != nil }
    }

    /// The number from which packets are still of use; what is missing before it need not be asked for. Nil before the
    /// first frame.
    package var firstUsefulNumber: SequenceNumber? {
        floor == .min ? nil : SequenceNumber(UInt16(truncatingIfNeeded: floor))
    }

    /// A frame whose last packets have not come, with nothing newer to show whether they are lost: the number that is
    /// wanted next, and when the packet before it came.
    package var openTail: (next: SequenceNumber, since: Instant)? {
        guard let newest = buffer.newest, let last = buffer[newest], last.descriptor != nil else { return nil }
        let cursor: Int64? =
            switch state {
            case .following(_, let cursor): cursor
            case .awaitingKeyFrame: keyFrameStarts.last?.cursor
            case nil: nil
            }
        guard cursor == newest + 1 else { return nil }
        return (SequenceNumber(UInt16(truncatingIfNeeded: newest + 1)), last.arrival)
    }

    /// The next whole frame, in decoding order.
    package mutating func pollFrame() -> AssembledFrame? {
        completed.isEmpty ? nil : completed.removeFirst()
    }

    /// Takes the parts of a packet: `payload` is what stands after the descriptor.
    @discardableResult
    package mutating func insert(
        _ number: SequenceNumber, timestamp: RTPTimestamp, marker: Bool, descriptor: VP8PayloadDescriptor,
        payload: [UInt8], orientation: VideoOrientation? = nil, now: Instant
    ) -> Insertion {
        store(
            VP8PacketBuffer.Slot(
                number: unwrapper.unwrap(number), timestamp: timestamp, marker: marker, descriptor: descriptor,
                payload: payload, arrival: now, orientation: orientation), now: now)
    }

    /// Takes note of a packet without media (padding): its number is not missing.
    @discardableResult
    package mutating func insertPadding(_ number: SequenceNumber, timestamp: RTPTimestamp, now: Instant) -> Insertion {
        store(
            VP8PacketBuffer.Slot(
                number: unwrapper.unwrap(number), timestamp: timestamp, marker: false, descriptor: nil, payload: [],
                arrival: now), now: now)
    }

    /// Gives up what can't be completed in time; call at ``nextDeadline(now:)``.
    package mutating func poll(now: Instant) {
        passGaps(now: now)
        while let since = blockedSince, now - since >= configuration.maximumWait {
            awaitKeyFrame(now: now)
            passGaps(now: now)
        }
    }

    /// What is missing will not come: goes on without it where that can be, and else awaits a key frame.
    mutating func giveUpGap(now: Instant) {
        guard blockedSince != nil else { return }
        if skipGap() { advance(now: now) } else { awaitKeyFrame(now: now) }
        poll(now: now)
    }

    /// When ``poll(now:)`` or ``needsKeyFrame(now:)`` may next change something, after a poll at `now`; nil while
    /// nothing is waited for.
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

    /// Whether the sender is to be asked for a key frame: nothing can be decoded, and no key frame is on its way in.
    package func needsKeyFrame(now: Instant) -> Bool {
        keyFrameDeadline.map { now >= $0 } ?? false
    }

    /// Lets go of everything until the next key frame, because the decoder lost its state, or the numbering began anew.
    package mutating func awaitKeyFrame(now: Instant) {
        blockedSince = nil
        continuity = nil
        drop(before: keyFrameStarts.first?.number ?? (buffer.newest ?? floor) + 1)
        state = .awaitingKeyFrame(since: now, isCertain: true)
        advance(now: now)
    }

    /// As ``awaitKeyFrame(now:)``, for a stream whose sequence numbers begin anew.
    package mutating func restart(now: Instant) {
        keyFrameStarts.removeAll()
        awaitKeyFrame(now: now)
        buffer = VP8PacketBuffer(capacity: configuration.packetCapacity)
        unwrapper = SerialNumberUnwrapper()
        floor = .min
    }

    private var keyFrameDeadline: Instant? {
        guard case .awaitingKeyFrame(let since, let isCertain) = state else { return nil }
        if let start = keyFrameStarts.last { return start.arrival.advanced(by: configuration.keyFrameWait) }
        return isCertain ? since : since.advanced(by: configuration.startDelay)
    }

    private mutating func store(_ slot: VP8PacketBuffer.Slot, now: Instant) -> Insertion {
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

    /// Each is looked at with every packet: where so many have begun, the oldest will hardly be completed.
    static let maximumKeyFrameStarts = 16

    private mutating func insertKeyFrameStart(_ number: Int64, now: Instant) {
        let place = keyFrameStarts.firstIndex { $0.number > number } ?? keyFrameStarts.count
        keyFrameStarts.insert(KeyFrameStart(number: number, cursor: number, arrival: now), at: place)
        if keyFrameStarts.count > Self.maximumKeyFrameStarts { keyFrameStarts.removeFirst() }
    }

    /// Keeps the packets within the ring and their bytes within the limit.
    private mutating func makeRoom(for slot: VP8PacketBuffer.Slot, now: Instant) {
        let lowest = slot.number - Int64(buffer.capacity) + 1
        if case .following(let next, _) = state, next < lowest { awaitKeyFrame(now: now) }
        if let newest = buffer.newest, newest - Int64(buffer.capacity) < lowest { drop(before: lowest) }
        if buffer.byteCount + slot.payload.count > configuration.byteCapacity {
            keyFrameStarts.removeAll()
            awaitKeyFrame(now: now)
        }
    }

    /// Returns every frame that can be returned, and finds out what holds back the next.
    private mutating func advance(now: Instant) {
        while true {
            switch state {
            case nil: return
            case .awaitingKeyFrame:
                guard let (start, last) = completeKeyFrame() else { return }
                drop(before: start)
                guard deliver(start...last, now: now) else { continue }
            case .following(var next, var cursor):
                while let slot = buffer[next], slot.descriptor == nil {
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

    /// How many numbers are looked through for a frame behind a gap that has none: more than the corrections of one.
    private static let maximumEmptyGap: Int64 = 32

    /// Where the next picture begins, if by its picture id there is none in the gap before it: what is missing was padding
    /// or forward error correction, and need not be waited for.
    private func frameBehindGap(at number: Int64) -> Int64? {
        guard let continuity, let newest = buffer.newest else { return nil }
        for next in number..<min(newest + 1, number + Self.maximumEmptyGap) {
            guard let slot = buffer[next], let descriptor = slot.descriptor else { continue }
            return slot.startsFrame && continuity.isFollowed(by: descriptor) ? next : nil
        }
        return nil
    }

    private mutating func completeKeyFrame() -> (start: Int64, last: Int64)? {
        for index in keyFrameStarts.indices {
            let start = keyFrameStarts[index].number
            if case .complete(let last) = buffer.run(from: start, cursor: &keyFrameStarts[index].cursor) {
                return (start, last)
            }
        }
        return nil
    }

    /// A search that looks at no more packets costs little beside what brought the newest of them here.
    static let cheapSearch = 128

    /// Goes on past every gap that has held back long enough what can be decoded without it: behind one may be another.
    private mutating func passGaps(now: Instant) {
        while let since = blockedSince, now - since >= configuration.skipDelay, search(now: now) { advance(now: now) }
    }

    /// Looks for a way past the gap, where it may be found now and was not before.
    private mutating func search(now: Instant) -> Bool {
        guard isSearchWorthwhile, nextSearch.map({ now >= $0 }) ?? true else { return false }
        let before = packetsSearched
        let isFound = skipGap()
        nextSearch = packetsSearched - before > Self.cheapSearch ? now.advanced(by: configuration.searchInterval) : nil
        return isFound
    }

    /// Goes on behind a gap, with the first whole frame that needs nothing of it. Each packet that waits is looked at
    /// twice at most.
    private mutating func skipGap() -> Bool {
        guard case .following(let next, let cursor) = state, let continuity, let newest = buffer.newest else {
            return false
        }
        var gap = continuity.gap
        var start = next
        // How far packets were followed already, as those of a frame whose end has not come.
        var followed = cursor
        while start <= newest {
            packetsSearched += 1
            guard let slot = buffer[start], let descriptor = slot.descriptor else {
                start += 1
                continue
            }
            if start > followed, slot.startsFrame {
                var end = start
                let run = buffer.run(from: start, cursor: &end)
                packetsSearched += Int(end - start)
                followed = end
                if case .complete(let last) = run {
                    if slot.startsKeyFrame || continuity.canSkip(to: descriptor, over: gap) {
                        drop(before: start)
                        state = .following(next: start, cursor: end)
                        return true
                    }
                    followed = last
                }
            }
            gap.add(descriptor)
            start += 1
        }
        isSearchWorthwhile = false
        return false
    }

    /// Makes a frame of whole packets; false where they turn out to be none, and a key frame has to follow.
    private mutating func deliver(_ range: ClosedRange<Int64>, now: Instant) -> Bool {
        var data: [UInt8] = []
        var count = 0
        var firstArrival = now
        var completion = Instant(nanoseconds: .min)
        for number in range {
            guard let slot = buffer[number], slot.descriptor != nil else { continue }
            data.append(contentsOf: slot.payload)
            count += 1
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
        guard let first, let descriptor = first.descriptor,
            let header = try? data.withRawSpan({ (span) throws(RTPError) in try VP8FrameHeader(parsing: span) })
        else {
            framesDropped += 1
            state = .awaitingKeyFrame(since: now, isCertain: true)
            return false
        }
        completed.append(
            AssembledFrame(
                data: data, header: header, timestamp: first.timestamp, pictureID: descriptor.pictureID,
                temporalLayer: descriptor.temporalLayer, packetCount: count, firstArrival: firstArrival,
                completion: completion, quarterTurns: quarterTurns))
        continuity = VP8Continuity(descriptor)
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
