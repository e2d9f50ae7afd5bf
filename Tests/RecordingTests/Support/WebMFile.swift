import Foundation

@testable import RTCShareRecording

/// The content of a WebM file, read by the tests' own parser: it follows sizes and ids, and assumes nothing else.
struct WebMFile {
    struct Track: Hashable {
        var number = 0
        var name = ""
        var codec = ""
        var privateData: [UInt8] = []
        var isDefault = false
        var width: Int?
        var height: Int?
        /// In degrees, counterclockwise. Nil if the track has no rotation.
        var roll: Double?
    }

    struct Block: Hashable {
        let track: Int
        let milliseconds: Int
        let isKeyFrame: Bool
        let data: [UInt8]
    }

    struct Cluster: Hashable {
        let offset: Int
        let milliseconds: Int
        let isEnded: Bool
        var blocks: [Block]
    }

    struct Cue: Hashable {
        var milliseconds = 0
        var track = 0
        var clusterOffset = 0
    }

    enum Malformed: Error {
        case cutOff(at: Int)
        case missing(WebMElement)
        case unexpected(id: UInt32, at: Int)
    }

    private(set) var documentType = ""
    private(set) var milliseconds = 0.0
    /// In nanoseconds since 2001.
    private(set) var date: Int64 = 0
    private(set) var tracks: [Track] = []
    private(set) var cues: [Cue] = []
    private(set) var clusters: [Cluster] = []
    /// The positions of the elements that the seek head names.
    private(set) var positions: [WebMElement: Int] = [:]
    private var offsets: [WebMElement: Int] = [:]

    var blocks: [Block] { clusters.flatMap(\.blocks) }

    func blocks(of track: Int) -> [Block] { blocks.filter { $0.track == track } }

    init(path: String) throws { try self.init([UInt8](Data(contentsOf: URL(filePath: path)))) }

    init(_ bytes: [UInt8]) throws {
        let file = Elements(bytes)
        let top = try file.elements(in: 0..<bytes.count)
        guard let head = top.first, head.element == .ebml else { throw Malformed.missing(.ebml) }
        documentType = try file.elements(in: head.content).first { $0.element == .documentType }.map(file.text) ?? ""
        guard let segment = top.first(where: { $0.element == .segment }) else { throw Malformed.missing(.segment) }
        let parts = try file.elements(in: segment.content)
        for part in parts {
            if offsets[part.element] == nil { offsets[part.element] = part.offset }
            switch part.element {
            case .seekHead: try readSeekHead(part, of: segment, in: file)
            case .info: try readInfo(part, in: file)
            case .tracks:
                tracks = try file.elements(in: part.content, only: .trackEntry).map { try Self.track($0, in: file) }
            case .cues:
                cues = try file.elements(in: part.content, only: .cuePoint).map {
                    try Self.cue($0, segment: segment.content.lowerBound, in: file)
                }
            case .cluster: clusters.append(try Self.cluster(part, in: file))
            default: throw Malformed.unexpected(id: part.element.rawValue, at: part.offset)
            }
        }
    }

    /// Whether the file's beginning names the right places.
    var leadsRight: Bool { positions.count == 3 && positions.allSatisfy { offsets[$0] == $1 } }

    private mutating func readSeekHead(_ head: Element, of segment: Element, in file: Elements) throws {
        for seek in try file.elements(in: head.content, only: .seek) {
            let parts = try file.elements(in: seek.content)
            guard let id = parts.first(where: { $0.element == .seekID }).map(file.number),
                let element = WebMElement(rawValue: UInt32(id)),
                let position = parts.first(where: { $0.element == .seekPosition }).map(file.number)
            else { throw Malformed.missing(.seekID) }
            positions[element] = segment.content.lowerBound + position
        }
    }

    private mutating func readInfo(_ info: Element, in file: Elements) throws {
        for part in try file.elements(in: info.content) {
            switch part.element {
            case .duration: milliseconds = Double(bitPattern: UInt64(file.number(part)))
            case .dateUTC: date = Int64(file.number(part))
            default: continue
            }
        }
    }

    private static func track(_ entry: Element, in file: Elements) throws -> Track {
        var track = Track()
        for part in try file.elements(in: entry.content) {
            switch part.element {
            case .trackNumber: track.number = file.number(part)
            case .name: track.name = file.text(part)
            case .codecID: track.codec = file.text(part)
            case .codecPrivate: track.privateData = Array(file.bytes[part.content])
            case .flagDefault: track.isDefault = file.number(part) == 1
            case .video:
                let video = try file.elements(in: part.content)
                track.width = video.first { $0.element == .pixelWidth }.map(file.number)
                track.height = video.first { $0.element == .pixelHeight }.map(file.number)
                if let projection = video.first(where: { $0.element == .projection }) {
                    let parts = try file.elements(in: projection.content)
                    guard parts.first(where: { $0.element == .projectionType }).map(file.number) == 0 else { continue }
                    track.roll = parts.first { $0.element == .projectionPoseRoll }
                        .map { Double(bitPattern: UInt64(truncatingIfNeeded: file.number($0))) }
                }
            default: continue
            }
        }
        return track
    }

    private static func cue(_ point: Element, segment: Int, in file: Elements) throws -> Cue {
        var cue = Cue()
        for part in try file.elements(in: point.content) {
            guard part.element == .cueTrackPositions else {
                if part.element == .cueTime { cue.milliseconds = file.number(part) }
                continue
            }
            for position in try file.elements(in: part.content) {
                if position.element == .cueTrack { cue.track = file.number(position) }
                if position.element == .cueClusterPosition { cue.clusterOffset = segment + file.number(position) }
            }
        }
        return cue
    }

    private static func cluster(_ element: Element, in file: Elements) throws -> Cluster {
        let parts = try file.elements(in: element.content)
        guard let timestamp = parts.first, timestamp.element == .timestamp else { throw Malformed.missing(.timestamp) }
        let time = file.number(timestamp)
        let blocks = try parts.dropFirst().map { part in
            guard part.element == .simpleBlock, part.content.count >= 4 else {
                throw Malformed.unexpected(id: part.element.rawValue, at: part.offset)
            }
            let content = Array(file.bytes[part.content])
            let relative = Int(Int16(bitPattern: UInt16(content[1]) << 8 | UInt16(content[2])))
            return Block(
                track: Int(content[0] & 0x7F), milliseconds: time + relative, isKeyFrame: content[3] & 0x80 != 0,
                data: Array(content[4...]))
        }
        return Cluster(
            offset: element.offset, milliseconds: time, isEnded: element.hasSize, blocks: blocks)
    }
}

private struct Element {
    let element: WebMElement
    let offset: Int
    let content: Range<Int>
    let hasSize: Bool
}

private struct Elements {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the elements in a part of the file, in order, without void elements.
    func elements(in range: Range<Int>, only wanted: WebMElement? = nil) throws -> [Element] {
        var found: [Element] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            let next = try element(at: offset, before: range.upperBound)
            offset = next.content.upperBound
            if next.element == .void { continue }
            if let wanted, next.element != wanted {
                throw WebMFile.Malformed.unexpected(id: next.element.rawValue, at: next.offset)
            }
            found.append(next)
        }
        return found
    }

    private func element(at offset: Int, before end: Int) throws -> Element {
        let idLength = bytes[offset].leadingZeroBitCount + 1
        guard idLength <= 4, offset + idLength < end else { throw WebMFile.Malformed.cutOff(at: offset) }
        let id = UInt32(value(offset..<offset + idLength))
        guard let element = WebMElement(rawValue: id) else { throw WebMFile.Malformed.unexpected(id: id, at: offset) }
        let sizeOffset = offset + idLength
        let sizeLength = bytes[sizeOffset].leadingZeroBitCount + 1
        let begin = sizeOffset + sizeLength
        guard sizeLength <= 8, begin <= end else { throw WebMFile.Malformed.cutOff(at: sizeOffset) }
        let size = value(sizeOffset..<begin) & (1 << (7 * sizeLength) - 1)
        if size == 1 << (7 * sizeLength) - 1 {
            // An element of unknown size ends at an element that can't be its child, or with the file.
            let next = element == .cluster ? cluster(after: begin, before: end) : end
            return Element(element: element, offset: offset, content: begin..<next, hasSize: false)
        }
        guard begin + size <= end else { throw WebMFile.Malformed.cutOff(at: offset) }
        return Element(element: element, offset: offset, content: begin..<begin + size, hasSize: true)
    }

    /// Returns the end of the elements that can be in a cluster.
    private func cluster(after begin: Int, before end: Int) -> Int {
        var offset = begin
        while offset < end, let next = try? element(at: offset, before: end),
            [.timestamp, .simpleBlock].contains(next.element)
        {
            offset = next.content.upperBound
        }
        return offset
    }

    private func value(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }

    func number(_ element: Element) -> Int {
        Int(bitPattern: bytes[element.content].reduce(UInt(0)) { $0 << 8 | UInt($1) })
    }

    func text(_ element: Element) -> String { String(decoding: bytes[element.content], as: UTF8.self) }
}
