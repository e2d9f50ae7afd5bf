package import RTCShareSDP

/// The payload types of a codec's forward error correction: ULPFEC in RED (RFC 5109 §14).
package struct ForwardErrorCorrectionFormats: Hashable, Sendable {
    /// The payload type of RED packets, which contain the codec's packets or corrections (RFC 2198).
    package var red: UInt8
    /// The payload type of retransmitted RED packets; nil if it was not negotiated.
    package var redRetransmission: UInt8?
    /// The payload type of corrections, which are only within RED.
    package var ulpfec: UInt8

    package init(red: UInt8, redRetransmission: UInt8?, ulpfec: UInt8) {
        self.red = red
        self.redRetransmission = redRetransmission
        self.ulpfec = ulpfec
    }

    static let redName = "red"
    static let ulpfecName = "ulpfec"

    /// Whether an encoding is used only together with others.
    package static func isAuxiliary(_ map: RTPMapAttribute) -> Bool {
        ["rtx", redName, ulpfecName].contains(map.encodingName.lowercased())
    }

    /// The payload types in the order of the `m=` line.
    var payloadTypes: [UInt8] { [red, redRetransmission, ulpfec].compactMap { $0 } }

    /// Returns the `a=rtpmap` of each payload type at a codec's clock rate.
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
    /// Returns the forward error correction of a codec in a section; nil if it has none.
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
