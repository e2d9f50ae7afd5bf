internal import RTCShareRTP
internal import RTCShareSDP

/// Assigns payload types and header extension ids to the sections of an offer, so that each has one meaning in the
/// whole bundle (RFC 9143 §10.1.2).
///
/// The numbers that the sections prefer are used, unless the peer's sections use them for something else.
struct OfferNumbers {
    private enum Format: Hashable {
        case media(RTPMapAttribute, parameters: String?)
        /// Retransmissions of packets with this payload type.
        case retransmission(of: UInt8)
    }

    private var formats: [UInt8: Format?] = [:]
    private var extensions: [UInt8: String] = [:]

    /// Creates the assignment with the numbers of the peer's sections.
    init(peers: some Sequence<NegotiatedMedia>) {
        for media in peers {
            for codec in media.codecs {
                // The peer's parameters configure Opus, but video is the same for all.
                let number = codec.local.payloadType
                let parameters = codec.local.formatParameters ?? codec.format?.parameters.offered
                formats[number] =
                    codec.map.isOpus ? .some(nil) : .media(Self.plain(codec.map), parameters: parameters)
                if codec.rtxPayloadType != nil, let rtx = codec.local.rtxPayloadType {
                    formats[rtx] = .retransmission(of: number)
                }
            }
            if let correction = media.forwardErrorCorrection {
                for map in correction.maps(clockRate: media.codec.clockRate) {
                    formats[map.payloadType] = Self.format(of: map, in: correction)
                }
            }
            for (uri, id) in media.extensionIDs { extensions[id] = uri.rawValue }
        }
    }

    /// Reserves the numbers of a section for their meaning, unless they have another one.
    mutating func reserve(_ section: OfferedSection) {
        for codec in section.codecs {
            let number = codec.map.payloadType
            reserve(number, for: .media(Self.plain(codec.map), parameters: codec.formatParameters))
            if let rtx = codec.rtxPayloadType { reserve(rtx, for: .retransmission(of: number)) }
            guard let correction = codec.forwardErrorCorrection else { continue }
            for map in correction.maps(clockRate: codec.map.clockRate) {
                reserve(map.payloadType, for: Self.format(of: map, in: correction))
            }
        }
        for map in section.extensions {
            guard let id = UInt8(exactly: map.id), extensions[id] == nil else { continue }
            extensions[id] = map.uri
        }
    }

    private mutating func reserve(_ number: UInt8, for format: Format) {
        if formats[number] == nil { formats[number] = format }
    }

    /// Assigns a section's numbers. A format or extension for which no number is left is removed.
    mutating func assign(_ section: inout OfferedSection) {
        section.codecs = section.codecs.compactMap { codec in
            var codec = codec
            let plain = Self.plain(codec.map)
            let format = Format.media(plain, parameters: codec.formatParameters)
            guard let number = payloadType(of: format, preferring: codec.map.payloadType) else { return nil }
            codec.map = plain.with(payloadType: number)
            codec.rtxPayloadType = codec.rtxPayloadType.flatMap {
                payloadType(of: .retransmission(of: number), preferring: $0)
            }
            codec.forwardErrorCorrection = codec.forwardErrorCorrection.flatMap {
                assign($0, clockRate: codec.map.clockRate)
            }
            return codec
        }
        section.extensions = section.extensions.compactMap { map in
            identifier(of: map.uri, preferring: map.id).map {
                ExtensionMapAttribute(id: UInt16($0), direction: map.direction, uri: map.uri)
            }
        }
    }

    private static func format(of map: RTPMapAttribute, in correction: ForwardErrorCorrectionFormats) -> Format {
        map.payloadType == correction.redRetransmission
            ? .retransmission(of: correction.red) : .media(plain(map), parameters: nil)
    }

    private mutating func assign(
        _ correction: ForwardErrorCorrectionFormats, clockRate: UInt32
    ) -> ForwardErrorCorrectionFormats? {
        func media(_ name: String) -> Format {
            .media(
                Self.plain(RTPMapAttribute(payloadType: 0, encodingName: name, clockRate: clockRate)), parameters: nil)
        }
        guard
            let red = payloadType(of: media(ForwardErrorCorrectionFormats.redName), preferring: correction.red),
            let ulpfec = payloadType(
                of: media(ForwardErrorCorrectionFormats.ulpfecName), preferring: correction.ulpfec)
        else { return nil }
        let rtx = correction.redRetransmission.flatMap { payloadType(of: .retransmission(of: red), preferring: $0) }
        return ForwardErrorCorrectionFormats(red: red, redRetransmission: rtx, ulpfec: ulpfec)
    }

    /// Returns an encoding without its payload type, with a normalized name.
    private static func plain(_ map: RTPMapAttribute) -> RTPMapAttribute {
        RTPMapAttribute(
            payloadType: 0, encodingName: map.encodingName == "opus" ? "opus" : map.encodingName.uppercased(),
            clockRate: map.clockRate, parameters: map.parameters)
    }

    /// The dynamic payload types, and the other ones that RFC 5761 §4 allows when those are used up.
    private static let payloadTypes = Array(96...127) + Array(35...63) as [UInt8]
    /// The ids of one-byte headers (RFC 8285 §4.2).
    private static let identifiers = 1...14 as ClosedRange<UInt8>

    private mutating func payloadType(of format: Format, preferring wanted: UInt8) -> UInt8? {
        let candidates = [wanted] + Self.payloadTypes
        let known = candidates.first { formats[$0] == .some(format) }
        guard let number = known ?? candidates.first(where: { formats[$0] == nil }) else { return nil }
        formats[number] = format
        return number
    }

    private mutating func identifier(of uri: String, preferring wanted: UInt16) -> UInt8? {
        let wanted = UInt8(truncatingIfNeeded: wanted)
        let candidates = [wanted] + Array(Self.identifiers)
        let known = extensions[wanted] == uri ? wanted : extensions.filter { $0.value == uri }.keys.min()
        guard let number = known ?? candidates.first(where: { extensions[$0] == nil }) else { return nil }
        extensions[number] = uri
        return number
    }
}
