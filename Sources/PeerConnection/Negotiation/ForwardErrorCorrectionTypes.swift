package import RTCShareRTP

/// What was agreed on for ULPFEC in RED (RFC 5109 §14), as packets have it.
package struct ForwardErrorCorrectionTypes: Hashable, Sendable {
    /// Of packets that hold the media's, or corrections (RFC 2198).
    package var red: PayloadType
    /// Of retransmissions of RED packets, in the stream of retransmissions; nil where they were not agreed on.
    package var redRetransmission: PayloadType?
    /// Of corrections, within RED alone.
    package var ulpfec: PayloadType

    /// Payload types that were agreed on.
    package init(red: PayloadType, redRetransmission: PayloadType?, ulpfec: PayloadType) {
        self.red = red
        self.redRetransmission = redRetransmission
        self.ulpfec = ulpfec
    }

    /// Those of a description.
    init?(_ formats: ForwardErrorCorrectionFormats) {
        guard let red = PayloadType(formats.red), let ulpfec = PayloadType(formats.ulpfec) else { return nil }
        self.init(red: red, redRetransmission: formats.redRetransmission.flatMap { PayloadType($0) }, ulpfec: ulpfec)
    }
}
