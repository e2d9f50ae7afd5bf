internal import RTCShareVideoCoding

/// A block of a track: a frame or an audio packet, with its time.
struct WebMBlock: Sendable, Hashable {
    /// The number of its track.
    let track: Int
    /// The time since the beginning at which it is due.
    let time: Duration
    /// The duration; zero if it is unknown.
    let duration: Duration
    /// A frame in the form of its codec, or an Opus packet.
    let data: [UInt8]
    /// Whether it can be decoded without the blocks before it.
    let isKeyFrame: Bool

    init(track: Int, time: Duration, duration: Duration = .zero, data: [UInt8], isKeyFrame: Bool) {
        self.track = track
        self.time = time
        self.duration = duration
        self.data = data
        self.isKeyFrame = isKeyFrame
    }
}

/// Writes a WebM file that is valid at every moment: however this process ends, players can play what was written, and
/// seek in it.
///
///     EBML │ Segment: SeekHead │ Info with the duration │ Tracks, free space │ Cues, free space │ Cluster │ Cluster …
///
/// The information that usually requires the end of a file is in its head, and is updated there: the duration, the
/// tracks, and the positions from which players can start. A cluster has a size when it has ended. The last one has
/// none (RFC 8794 §6.2), and ends with the file.
///
/// Used from one thread at a time. After an error only ``close()`` writes.
final class WebMWriter {
    /// The duration of the recording so far.
    private(set) var duration = Duration.zero
    /// The type of the file.
    let type: DocumentType
    private let file: GrowingFile
    private let layout: WebMLayout
    private var tracks: [WebMTrack] = []
    private var cues = CueIndex()
    private var cluster: WebMCluster?
    /// The time of each track's last index entry.
    private var lastCues: [Int: Int] = [:]

    /// The longest cluster that has only audio, in milliseconds: the time of a block in it is a signed 16-bit number.
    private static let longestCluster = 5000
    /// The minimum interval of index entries, in milliseconds.
    private static let shortestCueInterval = 1000

    /// Creates the file, which must not exist yet.
    init(path: String) throws(MediaFileError) {
        file = try GrowingFile(creating: path)
        type = DocumentType(path: path)
        layout = WebMLayout(type, cueByteCount: CueIndex().byteCount)
    }

    /// Writes the head. `date` is the beginning of the recording, in nanoseconds since 1 January 1970.
    func begin(date: Int64) throws(MediaFileError) {
        var head = layout.head(date: date)
        head.append(layout.tracks([]))
        head.append(layout.cuesHead)
        try file.append(head.bytes)
        try apply([cues.empty])
        // A hole, up to the first cluster.
        try file.overwrite([0], at: layout.clustersOffset - 1)
    }

    /// Adds a track. Returns false if there is no space for it.
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
            // A block that is due before its cluster begins gets the time of the cluster.
            let time = max(Self.milliseconds(block.time), cluster?.milliseconds ?? 0)
            if let last = cluster, !begins(block, isPicture: isPicture, at: time, in: last) {
                pending.append(block, at: time - last.milliseconds)
            } else {
                if let cluster { pending.end(cluster) }
                cluster = pending.beginCluster(at: time, with: block)
                // Players can start at any audio packet, but an index entry of audio is needed only if there is no
                // video.
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

    /// Whether a block begins another cluster. Each key frame does, so that the index leads directly to it.
    private func begins(_ block: WebMBlock, isPicture: Bool, at time: Int, in cluster: WebMCluster) -> Bool {
        if isPicture, block.isKeyFrame { return true }
        return time - cluster.milliseconds >= Self.longestCluster
    }

    /// Returns the writes to the index for the first block of a cluster.
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
        // A frame is shown for at least a moment.
        duration = blocks.map { $0.time + max($0.duration, .milliseconds(1)) }.reduce(duration, max)
        let milliseconds = (duration / .milliseconds(1)).rounded(.up)
        try file.overwrite(EBML.fixed(milliseconds.bitPattern, byteCount: 8), at: layout.durationOffset)
    }

    /// Ends the file, or removes it if it has no block. Does nothing the second time.
    func close() throws(MediaFileError) {
        guard duration > .zero else { return file.discard() }
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
    /// Its position in the file.
    let offset: Int
    /// The position of its size.
    let sizeOffset: Int
    let milliseconds: Int
}

/// Blocks and clusters to append to a file.
private struct PendingBlocks {
    private(set) var bytes: [UInt8] = []
    /// The clusters that have ended: the positions of their sizes, and the sizes.
    private(set) var ended: [(sizeOffset: Int, byteCount: Int)] = []
    /// The clusters that begin with a key frame, and its track.
    private(set) var keyFrames: [(track: Int, cluster: WebMCluster)] = []
    private var last: WebMCluster?
    /// The position in the file at which they are appended.
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

    /// Records that the last cluster begins with a key frame.
    mutating func recordKeyFrame(of block: WebMBlock) {
        if let last { keyFrames.append((block.track, last)) }
    }

    /// Appends a block as `SimpleBlock` (RFC 9559 §10.2), at its time in milliseconds within its cluster.
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
