internal import RTCShareSDP

/// The payload types of a codec's forward error correction: ULPFEC in RED (RFC 5109 §14).
package struct ForwardErrorCorrectionFormats: Hashable, Sendable {
    /// Of packets that hold the codec's, or those of correction (RFC 2198).
    package var red: UInt8
    /// Of retransmissions of those; nil where they are not agreed on.
    package var redRetransmission: UInt8?
    /// Of corrections, within RED alone.
    package var ulpfec: UInt8

    /// Payload types for one codec.
    package init(red: UInt8, redRetransmission: UInt8?, ulpfec: UInt8) {
        self.red = red
        self.redRetransmission = redRetransmission
        self.ulpfec = ulpfec
    }

    static let redName = "red"
    static let ulpfecName = "ulpfec"

    /// Whether an encoding only goes with others.
    static func isAuxiliary(_ map: RTPMapAttribute) -> Bool {
        ["rtx", redName, ulpfecName].contains(map.encodingName.lowercased())
    }

    /// The payload types in the order in which an `m=` line has them.
    var payloadTypes: [UInt8] { [red, redRetransmission, ulpfec].compactMap { $0 } }

    /// What each stands for, at a codec's clock rate.
    func maps(clockRate: UInt32) -> [RTPMapAttribute] {
        var maps = [RTPMapAttribute(payloadType: red, encodingName: Self.redName, clockRate: clockRate)]
        if let redRetransmission {
            maps.append(RTPMapAttribute(payloadType: redRetransmission, encodingName: "rtx", clockRate: clockRate))
        }
        maps.append(RTPMapAttribute(payloadType: ulpfec, encodingName: Self.ulpfecName, clockRate: clockRate))
        return maps
    }
}

extension DescriptionReader {
    /// The forward error correction that a section has for a codec; nil where it has none.
    func forwardErrorCorrection(
        for codec: RTPMapAttribute, in media: MediaDescription
    ) throws(NegotiationError) -> ForwardErrorCorrectionFormats? {
        let codecs = try codecs(of: media)
        let types = payloadTypes(of: media)
        func first(_ name: String) -> UInt8? {
            types.first { type in
                codecs[type].map { $0.encodingName.lowercased() == name && $0.clockRate == codec.clockRate } ?? false
            }
        }
        guard media.kind == "video", let red = first(ForwardErrorCorrectionFormats.redName),
            let ulpfec = first(ForwardErrorCorrectionFormats.ulpfecName)
        else { return nil }
        return ForwardErrorCorrectionFormats(
            red: red, redRetransmission: try rtxPayloadType(for: red, in: media), ulpfec: ulpfec)
    }
}
