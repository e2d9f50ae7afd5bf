/// The positions of the parts in the head of a WebM file. They all fit into the file's first page, in which they are
/// updated; the space for the index follows.
struct WebMLayout {
    /// The beginning of the segment's content, from which positions in the file count.
    let segmentOffset: Int
    /// The position of the duration's eight bytes.
    let durationOffset: Int
    let tracksOffset: Int
    /// The space for the tracks.
    let tracksByteCount: Int
    /// The position of the first index entry.
    let cuesOffset = Self.page
    let clustersOffset: Int
    private let cueByteCount: Int
    private let type: DocumentType

    private static let page = 4096
    /// The length of the index's id and size: its content is aligned to a page.
    private static let cuesHeadByteCount = 12

    init(_ type: DocumentType, cueByteCount: Int) {
        self.type = type
        self.cueByteCount = cueByteCount
        let start = Self.start(type)
        segmentOffset = start.bytes.count
        // The lengths of these parts do not depend on their values.
        let info = Self.info(date: 0)
        let seekHead = Self.seekHead(info: 0, tracks: 0, cues: 0)
        tracksOffset = start.bytes.count + seekHead.bytes.count + info.bytes.count
        durationOffset = tracksOffset - 8
        tracksByteCount = Self.page - Self.cuesHeadByteCount - tracksOffset
        clustersOffset = Self.page + cueByteCount
    }

    /// Returns everything before the tracks.
    func head(date: Int64) -> EBML {
        var head = Self.start(type)
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

    /// Returns the tracks, with a void element up to the end of their space; longer if they need more.
    func tracks(_ tracks: [WebMTrack]) -> [UInt8] {
        var writer = EBML()
        writer.write(.tracks) { writer in
            for track in tracks {
                let isDefault = tracks.first { $0.isPicture == track.isPicture } == track
                track.write(isDefault: isDefault, to: &writer)
            }
        }
        let rest = tracksByteCount - writer.bytes.count
        // A void element takes two bytes.
        if rest >= 2 { writer.writeVoid(byteCount: rest) }
        return writer.bytes
    }

    /// The bytes before the index.
    var cuesHead: [UInt8] { WebMElement.cues.bytes + EBML.longSize(cueByteCount) }

    /// Returns the file's head, and the segment's.
    private static func start(_ type: DocumentType) -> EBML {
        var writer = EBML()
        writer.write(.ebml) { ebml in
            ebml.write(.ebmlVersion, 1)
            ebml.write(.ebmlReadVersion, 1)
            ebml.write(.ebmlMaximumIDLength, 4)
            ebml.write(.ebmlMaximumSizeLength, 8)
            ebml.write(.documentType, type.rawValue)
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

    /// Returns the information with the duration as its last eight bytes.
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
