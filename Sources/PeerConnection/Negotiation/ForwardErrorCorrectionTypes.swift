package import RTCShareRTP

/// The negotiated payload types of ULPFEC in RED (RFC 5109 §14).
package struct ForwardErrorCorrectionTypes: Hashable, Sendable {
    /// The payload type of RED packets, which contain the media's packets or corrections (RFC 2198).
    package var red: PayloadType
    /// The payload type of retransmitted RED packets in the RTX stream; nil if it was not negotiated.
    package var redRetransmission: PayloadType?
    /// The payload type of corrections, which are only within RED.
    package var ulpfec: PayloadType

    package init(red: PayloadType, redRetransmission: PayloadType?, ulpfec: PayloadType) {
        self.red = red
        self.redRetransmission = redRetransmission
        self.ulpfec = ulpfec
    }

    /// Creates the types from those of a description.
    init?(_ formats: ForwardErrorCorrectionFormats) {
        guard let red = PayloadType(formats.red), let ulpfec = PayloadType(formats.ulpfec) else { return nil }
        self.init(red: red, redRetransmission: formats.redRetransmission.flatMap { PayloadType($0) }, ulpfec: ulpfec)
    }
}
