import RTCShareWireFormat

/// The RTP payload format of H.264 (RFC 6184), whose frames are NAL units with start codes (H.264 Annex B).
///
/// Packets of the interleaved mode (STAP-B, MTAP, FU-B) are refused. The payloads have no number of their frame, and a
/// frame's start is visible only at a sequence parameter set, where a decoder can start.
package final class H264PayloadFormat: VideoPayloadFormat {
    fileprivate static let nonInterleaved = H264PayloadFormat(isFragmenting: true)
    fileprivate static let singleUnits = H264PayloadFormat(isFragmenting: false)

    package let encodingName = "H264"
    package let parameters: any VideoFormatParameters

    /// Whether payloads can be aggregates and fragments (mode 1).
    private let isFragmenting: Bool

    /// The types of NAL units that occur only in packets (RFC 6184, table 1).
    private enum PacketType {
        static let aggregate: UInt8 = 24
        static let fragment: UInt8 = 28
        /// The types of units that packets can have.
        static let units: ClosedRange<UInt8> = 1...23
    }

    private init(isFragmenting: Bool) {
        self.isFragmenting = isFragmenting
        parameters = H264FormatParameters(packetizationMode: isFragmenting ? 1 : 0)
    }

    // Sending.

    package func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut {
        // A fragment has a prefix of two bytes.
        let limit = max(limit, 3)
        var units = (try? AnnexB.units(of: frame.span.bytes)) ?? []
        units.removeAll { !PacketType.units.contains($0.type) }
        let leading = isFragmenting ? parameterSets(units, limit: limit) : []
        var data = frame
        let aggregate = data.endIndex..<data.endIndex + appendAggregate(leading, of: frame, to: &data)
        var cut = FrameCut(data)
        if !aggregate.isEmpty { cut.append(aggregate, room: limit) { _, _ in PayloadPrefix([]) } }
        for unit in units.dropFirst(leading.count) {
            guard isFragmenting, unit.bytes.count > limit else {
                // Mode 0 has no fragments: an encoder for it must not make larger units.
                cut.append(unit.bytes, room: unit.bytes.count) { _, _ in PayloadPrefix([]) }
                continue
            }
            let header = frame[unit.bytes.lowerBound]
            cut.append(unit.bytes.dropFirst(), room: limit - 2) { index, count in
                let place: UInt8 = index == 0 ? 0x80 : index == count - 1 ? 0x40 : 0
                return PayloadPrefix([header & 0x60 | PacketType.fragment, place | unit.type])
            }
        }
        // A packet without payload is only padding to a receiver.
        if units.isEmpty { cut.append(0..<0, room: limit) { _, _ in PayloadPrefix([]) } }
        return cut
    }

    /// Returns the units before the first slice, if there are several with a sequence parameter set, and if they fit
    /// into an aggregate.
    private func parameterSets(_ units: [AnnexB.Unit], limit: Int) -> ArraySlice<AnnexB.Unit> {
        let leading = units.prefix { !$0.isSlice }
        let size = leading.reduce(1) { $0 + 2 + $1.bytes.count }
        guard leading.count > 1, leading.contains(where: { $0.type == AnnexB.Unit.sequenceParameters }),
            size <= min(limit, 1 << 16)
        else { return [] }
        return leading
    }

    /// Appends an aggregate of units (STAP-A, RFC 6184 §5.7.1). Returns the number of its bytes.
    private func appendAggregate(_ units: ArraySlice<AnnexB.Unit>, of frame: [UInt8], to data: inout [UInt8]) -> Int {
        guard !units.isEmpty else { return 0 }
        let start = data.count
        let importance = units.map { frame[$0.bytes.lowerBound] & 0x60 }.max() ?? 0
        data.append(importance | PacketType.aggregate)
        for unit in units {
            data.append(UInt8(truncatingIfNeeded: unit.bytes.count >> 8))
            data.append(UInt8(truncatingIfNeeded: unit.bytes.count))
            data += frame[unit.bytes]
        }
        return data.count - start
    }

    // Receiving.

    package func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        var reader = FieldReader(payload)
        let header = try reader.uint8(.nalUnitPayload)
        guard header & 0x80 == 0 else { throw .invalid(.nalUnitPayload, offset: 0) }
        var start = FrameStart.byTimestamp
        switch header & 0x1F {
        case AnnexB.Unit.sequenceParameters: start = .keyFrame
        case PacketType.units: break
        case PacketType.aggregate:
            repeat {
                let type = try readAggregated(&reader)
                if type == AnnexB.Unit.sequenceParameters { start = .keyFrame }
            } while reader.remaining > 0
        case PacketType.fragment:
            let fragment = try reader.uint8(.nalUnitPayload)
            guard PacketType.units.contains(fragment & 0x1F) else { throw .invalid(.nalUnitPayload, offset: 1) }
            guard reader.remaining > 0 else { throw .truncated(.nalUnitPayload, offset: 2) }
            if fragment & 0x80 == 0 {
                start = .none
            } else if fragment & 0x1F == AnnexB.Unit.sequenceParameters {
                start = .keyFrame
            }
        default: throw .invalid(.nalUnitPayload, offset: 0)
        }
        return (PacketContent(format: self, start: start), 0..<payload.byteCount)
    }

    /// Reads a unit of an aggregate, and returns its type.
    @_lifetime(reader: copy reader)
    private func readAggregated(_ reader: inout FieldReader) throws(RTPError) -> UInt8 {
        let size = Int(try reader.uint16(.nalUnitPayload))
        let offset = reader.offset
        let type = try reader.uint8(.nalUnitPayload)
        guard PacketType.units.contains(type & 0x9F) else { throw .invalid(.nalUnitPayload, offset: offset) }
        guard size > 0 else { throw .invalid(.nalUnitPayload, offset: offset - 2) }
        try reader.skip(size - 1, .nalUnitPayload)
        return type & 0x1F
    }

    package func join(_ pieces: [[UInt8]]) throws(RTPError) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(pieces.reduce(0) { $0 + $1.count + Self.startCode.count })
        /// The header of the unit of which fragments follow.
        var fragmented: UInt8?
        for piece in pieces {
            guard let header = piece.first else { throw .truncated(.nalUnitPayload, offset: 0) }
            guard header & 0x1F == PacketType.fragment else {
                guard fragmented == nil else { throw .invalid(.nalUnitPayload, offset: 0) }
                try append(piece, to: &frame)
                continue
            }
            guard piece.count > 2 else { throw .truncated(.nalUnitPayload, offset: 1) }
            let unit = header & 0xE0 | piece[1] & 0x1F
            if piece[1] & 0x80 != 0 {
                guard fragmented == nil else { throw .invalid(.nalUnitPayload, offset: 1) }
                frame += Self.startCode
                frame.append(unit)
            } else if fragmented.map({ $0 & 0x1F }) != unit & 0x1F {
                throw .invalid(.nalUnitPayload, offset: 1)
            }
            fragmented = piece[1] & 0x40 == 0 ? unit : nil
            frame += piece[2...]
        }
        guard fragmented == nil else { throw .truncated(.nalUnitPayload, offset: 0) }
        // With a start code in a payload, the units would differ from those that were sent.
        try AnnexB.forEachUnit(of: frame.span.bytes) { _ in true }
        return frame
    }

    private static let startCode: [UInt8] = [0, 0, 0, 1]

    /// Appends the units of a payload that has no fragment.
    private func append(_ piece: [UInt8], to frame: inout [UInt8]) throws(RTPError) {
        guard piece[0] & 0x1F == PacketType.aggregate else {
            frame += Self.startCode
            frame += piece
            return
        }
        var start = 1
        while start + 2 < piece.count {
            let size = Int(piece[start]) << 8 | Int(piece[start + 1])
            start += 2
            guard (1...piece.count - start).contains(size) else { throw .truncated(.nalUnitPayload, offset: start) }
            frame += Self.startCode
            frame += piece[start..<start + size]
            start += size
        }
    }

    /// Reads the header of a frame. An IDR picture without parameter sets counts as a delta frame: it decodes only
    /// after a frame that had them.
    package func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        let header = try H264FrameHeader(parsing: frame)
        guard header.isKeyFrame, header.hasParameterSets, let size = header.sequenceParameters.first else {
            return VideoFrameHeader(isKeyFrame: false)
        }
        return VideoFrameHeader(isKeyFrame: true, width: size.width, height: size.height)
    }
}

extension VideoPayloadFormat where Self == H264PayloadFormat {
    /// The RTP payload format of H.264 in the non-interleaved mode (RFC 6184 §6.3).
    package static var h264: H264PayloadFormat { .nonInterleaved }

    /// The RTP payload format of H.264 in the single NAL unit mode (RFC 6184 §6.2), for encoders that limit the size of
    /// NAL units.
    package static var h264SingleUnits: H264PayloadFormat { .singleUnits }
}
