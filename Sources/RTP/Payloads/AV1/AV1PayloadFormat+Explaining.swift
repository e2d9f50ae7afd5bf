extension AV1PayloadFormat {
    /// Describes the fields of the aggregation header, then the elements with their sizes.
    package func explain(_ payload: RawSpan) throws(RTPError) -> String {
        let header = try AV1AggregationHeader(parsing: payload)
        let content = try read(payload).content
        var parts = [
            "Z=\(header.continuesUnit ? 1 : 0) Y=\(header.isContinued ? 1 : 0) W=\(header.elementCount)"
                + " N=\(header.startsSequence ? 1 : 0)"
        ]
        var size = ""
        var (position, index) = (1, 0)
        while let (element, isLast) = try header.element(index, in: payload, at: position) {
            let isFragment = index == 0 && header.continuesUnit
            let kind = isFragment || element.isEmpty ? nil : OpenBitstreamUnit.kind(of: payload, at: element.lowerBound)
            parts.append("\(isFragment ? "fragment" : kind?.name ?? "unknown")=\(element.count)")
            if kind == .sequenceHeader, !(isLast && header.isContinued) {
                let sequence = try Self.sequenceHeader(payload.extracting(element))
                size = " \(sequence.width)x\(sequence.height)"
            }
            position = element.upperBound
            index += 1
        }
        if content.startsFrame { parts.append(content.startsKeyFrame ? "key frame\(size)" : "frame") }
        return parts.joined(separator: " ")
    }

    private static func sequenceHeader(_ element: RawSpan) throws(RTPError) -> AV1SequenceHeader {
        guard let unit = try OpenBitstreamUnit.next(in: element, at: 0) else {
            throw .truncated(.sequenceHeader, offset: 0)
        }
        return try AV1SequenceHeader(element, unit)
    }
}

extension OpenBitstreamUnit.Kind {
    /// The name of the specification (AV1 §6.2.2) in small letters.
    fileprivate var name: String {
        switch self {
        case .sequenceHeader: "sequence-header"
        case .temporalDelimiter: "temporal-delimiter"
        case .frameHeader: "frame-header"
        case .tileGroup: "tile-group"
        case .metadata: "metadata"
        case .frame: "frame"
        case .redundantFrameHeader: "redundant-frame-header"
        case .tileList: "tile-list"
        case .padding: "padding"
        }
    }
}
