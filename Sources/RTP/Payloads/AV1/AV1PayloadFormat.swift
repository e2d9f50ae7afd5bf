/// The RTP payload format of AV1 (RTP Payload Format For AV1, version 1.0).
///
/// A payload consists of an aggregation header and OBU elements: whole OBUs, or fragments. The pieces of
/// ``VideoPayloadFormat/join(_:)`` are whole payloads, since their aggregation headers tell the elements apart.
package final class AV1PayloadFormat: VideoPayloadFormat {
    fileprivate static let shared = AV1PayloadFormat()

    /// The maximum number of OBUs of a received frame, and of elements of a packet.
    static let maximumUnitCount = 64
    /// The maximum number of bytes of a received frame.
    static let maximumByteCount = 8 << 20

    package let encodingName = "AV1"
    package let usesDependencyDescriptor = true
    package let parameters: any VideoFormatParameters = AV1FormatParameters()

    private init() {}

    /// Units without a size in their header follow each other in payloads of nearly equal size. Only the last payload of
    /// a frame ends with a unit: libwebrtc without a dependency descriptor takes a payload that does as the end of a
    /// frame, and rejects two frames with one timestamp.
    package func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut {
        let units = Self.sentUnits(of: frame)
        let startsSequence =
            units.first?.kind == .sequenceHeader && (try? AV1FrameHeader(parsing: frame.span.bytes))?.isKeyFrame == true
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frame.count)
        var ends: [Int] = []
        for unit in units {
            unit.appendElement(of: frame, to: &bytes)
            ends.append(bytes.count)
        }
        return Self.cut(bytes, endingAt: ends, room: max(1, limit - 1), startsSequence: startsSequence)
    }

    /// The maximum number of elements that an aggregation header counts, so that the last one needs no length.
    private static let countedElements = 3

    private static func cut(_ bytes: [UInt8], endingAt ends: [Int], room: Int, startsSequence: Bool) -> FrameCut {
        // Each unit has a length in one of the payloads, except for the last one if it is counted.
        let lengths = zip(ends, [0] + ends).map { LEB128.byteCount(of: $0 - $1) }
            .dropLast(ends.count > countedElements ? 0 : 1)
        var rest = bytes.count + lengths.reduce(0, +)
        let payloadCount = max(1, (rest + room - 1) / room)
        var data: [UInt8] = []
        data.reserveCapacity(rest)
        var payloads: [(range: Range<Int>, header: AV1AggregationHeader)] = []
        var (position, unit) = (0, 0)
        repeat {
            let start = data.count
            let payloadsLeft = max(1, payloadCount - payloads.count)
            // Lengths of cut units are not planned: the last payload takes what they left over.
            let size = payloadsLeft == 1 ? room : min(room, (rest + payloadsLeft - 1) / payloadsLeft)
            let continuesUnit = position > (unit == 0 ? 0 : ends[unit - 1])
            var (elementCount, isOpen) = (0, true)
            while isOpen, unit < ends.count {
                let (unitRest, left) = (ends[unit] - position, size - (data.count - start))
                let isLast = unit == ends.count - 1
                elementCount += 1
                let needsLength = elementCount > countedElements
                let whole = unitRest + LEB128.byteCount(of: unitRest)
                // Something of the next unit must follow a whole one.
                isOpen = !isLast && whole + (elementCount >= countedElements ? 2 : 1) <= left
                let count: Int
                if isOpen || isLast && (needsLength ? whole : unitRest) <= left {
                    count = unitRest
                } else {
                    let most = needsLength ? left - LEB128.byteCount(of: left) : left
                    count = max(1, min(most, isLast ? unitRest : unitRest - 1))
                }
                if isOpen || needsLength { LEB128.append(count, to: &data) }
                data += bytes[position..<position + count]
                position += count
                if position == ends[unit] { unit += 1 }
            }
            rest = max(1, rest - (data.count - start))
            let isContinued = unit < ends.count && position > (unit == 0 ? 0 : ends[unit - 1])
            payloads.append(
                (
                    start..<data.count,
                    AV1AggregationHeader(
                        continuesUnit: continuesUnit, isContinued: isContinued,
                        elementCount: elementCount > countedElements ? 0 : max(1, elementCount),
                        startsSequence: startsSequence && payloads.isEmpty)
                ))
        } while unit < ends.count
        var cut = FrameCut(data)
        for (range, header) in payloads { cut.append(range, room: range.count) { _, _ in header.prefix } }
        return cut
    }

    /// Returns the units to send. Those after an unreadable one are left out.
    private static func sentUnits(of frame: [UInt8]) -> [OpenBitstreamUnit] {
        var units: [OpenBitstreamUnit] = []
        var position = 0
        while let unit = try? OpenBitstreamUnit.next(in: frame.span.bytes, at: position) {
            if !unit.isOmittedInRTP { units.append(unit) }
            position = unit.bytes.upperBound
        }
        return units
    }

    package func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        let header = try AV1AggregationHeader(parsing: payload)
        var (position, index) = (1, 0)
        var hasUnit = false
        // Of the first unit, nil for a reserved type.
        var kind: OpenBitstreamUnit.Kind?
        while let element = try header.element(index, in: payload, at: position)?.range {
            if !hasUnit, !element.isEmpty, index > 0 || !header.continuesUnit {
                kind = OpenBitstreamUnit.kind(of: payload, at: element.lowerBound)
                hasUnit = kind != .temporalDelimiter
            }
            position = element.upperBound
            index += 1
        }
        // Without a unit, a packet begins with an empty fragment, or has a temporal delimiter.
        let startsFrame = !header.continuesUnit && (!hasUnit || kind?.canStartFrame == true)
        let content = PacketContent(
            format: self, startsFrame: startsFrame,
            startsKeyFrame: startsFrame && header.startsSequence && (!hasUnit || kind == .sequenceHeader))
        return (content, 0..<payload.byteCount)
    }

    /// Returns the units of the elements, each with its size.
    package func join(_ pieces: [[UInt8]]) throws(RTPError) -> [UInt8] {
        let byteCount = pieces.reduce(0) { $0 + $1.count }
        guard byteCount <= Self.maximumByteCount else {
            throw .tooMany(.frameBytes, limit: Self.maximumByteCount, offset: Self.maximumByteCount)
        }
        var frame: [UInt8] = []
        frame.reserveCapacity(byteCount + 8)
        var unitCount = 0
        // The place of a unit of which only fragments were read.
        var open: Int?
        for piece in pieces {
            let payload = piece.span.bytes
            let header = try AV1AggregationHeader(parsing: payload)
            guard header.continuesUnit == (open != nil) else { throw .invalid(.aggregationHeader, offset: frame.count) }
            var (position, index) = (1, 0)
            while let (element, isLast) = try header.element(index, in: payload, at: position) {
                let start = open ?? frame.count
                open = start
                frame += piece[element]
                position = element.upperBound
                index += 1
                if isLast, header.isContinued { break }
                try Self.close(&frame, from: start)
                open = nil
                unitCount += start < frame.count ? 1 : 0
                guard unitCount <= Self.maximumUnitCount else {
                    throw .tooMany(.openBitstreamUnit, limit: Self.maximumUnitCount, offset: start)
                }
            }
        }
        guard open == nil, !frame.isEmpty else { throw .truncated(.openBitstreamUnit, offset: open ?? 0) }
        return frame
    }

    /// Completes the unit at the end of a frame with its size, or removes it if decoders must not receive it.
    private static func close(_ frame: inout [UInt8], from start: Int) throws(RTPError) {
        guard let unit = try OpenBitstreamUnit.next(in: frame.span.bytes, at: start) else { return }
        guard unit.bytes.upperBound == frame.count else { throw .invalid(.openBitstreamUnit, offset: start) }
        if unit.isOmittedInRTP {
            frame.removeLast(frame.count - start)
        } else if frame[start] & OpenBitstreamUnit.sizeFlag == 0 {
            frame[start] |= OpenBitstreamUnit.sizeFlag
            frame.insert(contentsOf: LEB128.bytes(of: unit.payload.count), at: unit.payload.lowerBound)
        }
    }

    package func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        let header = try AV1FrameHeader(parsing: frame)
        return VideoFrameHeader(isKeyFrame: header.isKeyFrame, width: header.width, height: header.height)
    }
}

extension VideoPayloadFormat where Self == AV1PayloadFormat {
    /// The RTP payload format of AV1.
    package static var av1: AV1PayloadFormat { .shared }
}

extension OpenBitstreamUnit {
    /// Whether senders leave the unit out, and receivers ignore it (AV1 RTP §5). Padding is for constant bitrates.
    fileprivate var isOmittedInRTP: Bool { kind == .temporalDelimiter || kind == .tileList || kind == .padding }

    /// Appends the unit without the size in its header.
    fileprivate func appendElement(of frame: [UInt8], to data: inout [UInt8]) {
        let header = bytes.prefix(Self.headerByteCount(frame[bytes.lowerBound]))
        data.append(frame[header.lowerBound] & ~Self.sizeFlag)
        data += frame[header.dropFirst()]
        data += frame[payload]
    }
}

extension OpenBitstreamUnit.Kind {
    /// Whether a frame can begin with such a unit.
    fileprivate var canStartFrame: Bool {
        self == .sequenceHeader || self == .metadata || self == .frame || self == .frameHeader
    }
}
