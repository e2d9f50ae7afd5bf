internal import RTCShareVideoCoding

/// A block of a track: what is seen or heard from a time on.
struct WebMBlock: Sendable, Hashable {
    /// The number of its track.
    let track: Int
    /// How long after the beginning it is due.
    let time: Duration
    /// How long it lasts; zero where nobody knows.
    let duration: Duration
    /// A VP8 frame or an Opus packet.
    let data: [UInt8]
    /// Whether it can be decoded without those before it.
    let isKeyFrame: Bool

    /// A block.
    init(track: Int, time: Duration, duration: Duration = .zero, data: [UInt8], isKeyFrame: Bool) {
        self.track = track
        self.time = time
        self.duration = duration
        self.data = data
        self.isKeyFrame = isKeyFrame
    }
}

/// Writes a WebM file that is whole at every moment: whatever becomes of this process, what was written can be played, and
/// looked through.
///
///     EBML │ Segment: SeekHead │ Info with the duration │ Tracks, room for more │ Cues, room for more │ Cluster │ Cluster …
///
/// All that a file's end would be needed for stands in its head, and is brought up to date there: how long it is, its
/// tracks, and the places from which it can be played. A cluster has a size once it has ended; the last one has none (RFC
/// 8794 §6.2), and ends with the file.
///
/// Used from one thread at a time. After an error nothing more can be written but by ``close()``.
final class WebMWriter {
    /// How long the film is so far.
    private(set) var duration = Duration.zero
    private let file: GrowingFile
    private let layout: WebMLayout
    private var tracks: [WebMTrack] = []
    private var cues = CueIndex()
    private var cluster: WebMCluster?
    /// The last place of each track in the index.
    private var lastCues: [Int: Int] = [:]
    private var hasBegun = false

    /// A cluster of sound alone goes on for so long, in milliseconds: a block's time in it has 16 bits with a sign.
    private static let longestCluster = 5000
    /// The places of the index are this far apart, in milliseconds.
    private static let shortestCueInterval = 1000

    /// Makes the file, which must not be there yet.
    init(path: String) throws(MediaFileError) {
        file = try GrowingFile(creating: path)
        layout = WebMLayout(cueByteCount: CueIndex().byteCount)
    }

    /// Writes the head. `date` is when the film begins, in nanoseconds since 1 January 1970.
    func begin(date: Int64) throws(MediaFileError) {
        var head = layout.head(date: date)
        head.append(layout.tracks([]))
        head.append(layout.cuesHead)
        try file.append(head.bytes)
        try apply([cues.empty])
        // A hole, up to where the first cluster stands.
        try file.overwrite([0], at: layout.clustersOffset - 1)
        hasBegun = true
    }

    /// Adds a track; false where there is no room for it.
    func add(_ track: WebMTrack) throws(MediaFileError) -> Bool {
        let all = (tracks + [track]).sorted(by: WebMTrack.comesFirst)
        let bytes = layout.tracks(all)
        guard bytes.count == layout.tracksByteCount else { return false }
        tracks = all
        try file.overwrite(bytes, at: layout.tracksOffset)
        return true
    }

    /// Writes blocks, in the order of their times.
    func write(_ blocks: [WebMBlock]) throws(MediaFileError) {
        guard !blocks.isEmpty else { return }
        var pending = PendingBlocks(offset: file.length)
        var cluster = cluster
        for block in blocks {
            let isPicture = tracks.contains { $0.number == block.track && $0.isPicture }
            // What is later than its cluster's beginning is to be seen then.
            let time = max(Self.milliseconds(block.time), cluster?.milliseconds ?? 0)
            if let last = cluster, !begins(block, isPicture: isPicture, at: time, in: last) {
                pending.append(block, at: time - last.milliseconds)
            } else {
                if let cluster { pending.end(cluster) }
                cluster = pending.beginCluster(at: time, with: block)
                // Sound can be begun anywhere, and is led to by the pictures where there are any.
                if block.isKeyFrame, isPicture || !tracks.contains(where: \.isPicture) {
                    pending.recordKeyFrame(of: block)
                }
            }
        }
        try file.append(pending.bytes)
        self.cluster = cluster
        for (offset, count) in pending.ended { try file.overwrite(EBML.longSize(count), at: offset) }
        for (track, begun) in pending.keyFrames { try apply(cue(for: track, in: begun)) }
        try writeDuration(blocks)
    }

    /// Whether a block is the first of another cluster. Each picture that can be decoded on its own is, so that the index
    /// leads to it straight.
    private func begins(_ block: WebMBlock, isPicture: Bool, at time: Int, in cluster: WebMCluster) -> Bool {
        if isPicture, block.isKeyFrame { return true }
        return time - cluster.milliseconds >= Self.longestCluster
    }

    /// What is to be written to the index for the first block of a cluster.
    private func cue(for track: Int, in cluster: WebMCluster) -> [CueIndex.Write] {
        if let last = lastCues[track], cluster.milliseconds < last + Self.shortestCueInterval { return [] }
        lastCues[track] = cluster.milliseconds
        return cues.add(
            track: track, milliseconds: cluster.milliseconds, clusterPosition: cluster.offset - layout.segmentOffset)
    }

    private func apply(_ writes: [CueIndex.Write]) throws(MediaFileError) {
        for write in writes { try file.overwrite(write.bytes, at: layout.cuesOffset + write.offset) }
    }

    private func writeDuration(_ blocks: [WebMBlock]) throws(MediaFileError) {
        // A picture is seen for a moment at least.
        duration = blocks.map { $0.time + max($0.duration, .milliseconds(1)) }.reduce(duration, max)
        let milliseconds = (duration / .milliseconds(1)).rounded(.up)
        try file.overwrite(EBML.fixed(milliseconds.bitPattern, byteCount: 8), at: layout.durationOffset)
    }

    /// Ends the file; one that nothing was written to is removed. Does nothing the second time.
    func close() throws(MediaFileError) {
        guard hasBegun else { return file.discard() }
        if let cluster {
            try file.overwrite(EBML.longSize(file.length - cluster.sizeOffset - 8), at: cluster.sizeOffset)
            try file.overwrite(EBML.longSize(file.length - layout.segmentOffset), at: layout.segmentOffset - 8)
        }
        cluster = nil
        try file.close()
    }

    private static func milliseconds(_ time: Duration) -> Int {
        let value = (time / .milliseconds(1)).rounded()
        return value > 0 && value < 1e12 ? Int(value) : 0
    }
}

/// A cluster of blocks.
private struct WebMCluster {
    /// Where it stands in the file.
    let offset: Int
    /// Where its size does.
    let sizeOffset: Int
    let milliseconds: Int
}

/// Blocks and clusters that are to be appended to a file.
private struct PendingBlocks {
    private(set) var bytes: [UInt8] = []
    /// Clusters that have ended: where their sizes stand, and the sizes.
    private(set) var ended: [(sizeOffset: Int, byteCount: Int)] = []
    /// Clusters that begin with a key frame, and the tracks of those.
    private(set) var keyFrames: [(track: Int, cluster: WebMCluster)] = []
    private var last: WebMCluster?
    /// Where in the file these are to stand.
    private let offset: Int

    init(offset: Int) {
        self.offset = offset
    }

    mutating func end(_ cluster: WebMCluster) {
        ended.append((cluster.sizeOffset, offset + bytes.count - cluster.sizeOffset - EBML.unknownSize.count))
    }

    mutating func beginCluster(at milliseconds: Int, with block: WebMBlock) -> WebMCluster {
        let clusterOffset = offset + bytes.count
        var head = EBML()
        let sizeOffset = clusterOffset + head.begin(.cluster)
        head.write(.timestamp, UInt64(milliseconds))
        bytes += head.bytes
        append(block, at: 0)
        let cluster = WebMCluster(offset: clusterOffset, sizeOffset: sizeOffset, milliseconds: milliseconds)
        last = cluster
        return cluster
    }

    /// Takes note that the last cluster begins with a key frame.
    mutating func recordKeyFrame(of block: WebMBlock) {
        if let last { keyFrames.append((block.track, last)) }
    }

    /// Adds a block as `SimpleBlock` (RFC 9559 §10.2), so many milliseconds into its cluster.
    mutating func append(_ block: WebMBlock, at milliseconds: Int) {
        let track = EBML.size(block.track)
        bytes += WebMElement.simpleBlock.bytes
        bytes += EBML.size(track.count + 3 + block.data.count)
        bytes += track
        bytes += EBML.fixed(UInt64(UInt16(clamping: milliseconds)), byteCount: 2)
        bytes.append(block.isKeyFrame ? 0x80 : 0)
        bytes += block.data
    }
}
