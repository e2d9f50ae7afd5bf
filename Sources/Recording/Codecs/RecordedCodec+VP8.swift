extension RecordedCodec {
    /// VP8, whose frames are blocks as they are.
    static let vp8 = RecordedCodec(id: "V_VP8", isInWebM: true, privateData: { _ in [] }, block: { $0 })
}
