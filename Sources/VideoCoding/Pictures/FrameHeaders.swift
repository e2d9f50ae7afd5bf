internal import RTCShareRTP

extension Span<UInt8> {
    /// Returns the header that `parse` reads from the bytes of a frame.
    func header<Header>(_ parse: (RawSpan) throws(RTPError) -> Header) throws(VideoCodingError) -> Header {
        do throws(RTPError) {
            return try parse(bytes)
        } catch {
            throw .corruptedFrame(reason: error.description)
        }
    }
}
