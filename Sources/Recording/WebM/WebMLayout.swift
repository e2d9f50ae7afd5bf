/// Where in a WebM file the parts of its head stand. All of them fit into the file's first page, and are brought up to date
/// there; room for the index follows.
struct WebMLayout {
    /// Where the segment's content begins, which positions in the file count from.
    let segmentOffset: Int
    /// Where the duration's eight bytes stand.
    let durationOffset: Int
    let tracksOffset: Int
    /// The room of the tracks.
    let tracksByteCount: Int
    /// Where the first place of the index stands.
    let cuesOffset = Self.page
    let clustersOffset: Int
    private let cueByteCount: Int

    private static let page = 4096
    /// The index's id and size: its content is aligned to a page.
    private static let cuesHeadByteCount = 12

    init(cueByteCount: Int) {
        self.cueByteCount = cueByteCount
        let start = Self.start()
        segmentOffset = start.bytes.count
        // None of what is written here has another length with another value.
        let info = Self.info(date: 0)
        let seekHead = Self.seekHead(info: 0, tracks: 0, cues: 0)
        tracksOffset = start.bytes.count + seekHead.bytes.count + info.bytes.count
        durationOffset = tracksOffset - 8
        tracksByteCount = Self.page - Self.cuesHeadByteCount - tracksOffset
        clustersOffset = Self.page + cueByteCount
    }

    /// All that stands before the tracks.
    func head(date: Int64) -> EBML {
        var head = Self.start()
        let info = Self.info(date: date)
        let infoOffset = tracksOffset - info.bytes.count
        head.append(
            Self.seekHead(
                info: infoOffset - segmentOffset, tracks: tracksOffset - segmentOffset,
                cues: Self.page - Self.cuesHeadByteCount - segmentOffset
            ).bytes)
        head.append(info.bytes)
        return head
    }

    /// The tracks, and nothing up to the end of their room; longer where they need more than it.
    func tracks(_ tracks: [WebMTrack]) -> [UInt8] {
        var writer = EBML()
        writer.write(.tracks) { writer in
            for track in tracks {
                let isDefault = tracks.first { $0.isPicture == track.isPicture } == track
                track.write(isDefault: isDefault, to: &writer)
            }
        }
        let rest = tracksByteCount - writer.bytes.count
        // An element of nothing takes two bytes.
        if rest >= 2 { writer.writeVoid(byteCount: rest) }
        return writer.bytes
    }

    /// What stands before the index.
    var cuesHead: [UInt8] { WebMElement.cues.bytes + EBML.longSize(cueByteCount) }

    /// The file's head, and the segment's.
    private static func start() -> EBML {
        var writer = EBML()
        writer.write(.ebml) { ebml in
            ebml.write(.ebmlVersion, 1)
            ebml.write(.ebmlReadVersion, 1)
            ebml.write(.ebmlMaximumIDLength, 4)
            ebml.write(.ebmlMaximumSizeLength, 8)
            ebml.write(.documentType, "webm")
            ebml.write(.documentTypeVersion, 4)
            ebml.write(.documentTypeReadVersion, 2)
        }
        _ = writer.begin(.segment)
        return writer
    }

    private static func seekHead(info: Int, tracks: Int, cues: Int) -> EBML {
        var writer = EBML()
        writer.write(.seekHead) { head in
            for (element, position) in [(WebMElement.info, info), (.tracks, tracks), (.cues, cues)] {
                head.write(.seek) { seek in
                    seek.write(.seekID, element.bytes)
                    seek.write(.seekPosition, EBML.fixed(UInt64(position), byteCount: 4))
                }
            }
        }
        return writer
    }

    /// With the duration as its last eight bytes.
    private static func info(date: Int64) -> EBML {
        var writer = EBML()
        writer.write(.info) { info in
            info.write(.timestampScale, 1_000_000)
            info.write(.muxingApplication, "rtcshare")
            info.write(.writingApplication, "rtcshare")
            // EBML's dates count from 1 January 2001 (RFC 8794 §7.6).
            let sinceMillennium = date.subtractingReportingOverflow(978_307_200_000_000_000).partialValue
            info.write(.dateUTC, EBML.fixed(UInt64(bitPattern: sinceMillennium), byteCount: 8))
            info.write(.duration, EBML.fixed(0, byteCount: 8))
        }
        return writer
    }
}
