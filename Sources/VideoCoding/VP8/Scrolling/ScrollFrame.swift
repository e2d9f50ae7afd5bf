internal import RTCShareMedia

/// Writes a VP8 frame of motion vectors only, which shows the last frame with a part of it moved.
///
/// In real time, libvpx finds moves of up to some sixteen rows, and codes a page that scrolled farther as new. This
/// frame expresses the move in some hundred bytes, whatever the distance. It changes nothing for later frames except
/// the last frame and the given updates: no probability is kept (RFC 6386 §9.11), and segments and filters do not
/// change.
enum ScrollFrame {
    /// Returns the frame. `quantizer`, 0 to 127, is only in the header, since nothing is quantized. The scroll must be
    /// expressible. `updates` are the references that the frame updates in addition to the last frame.
    static func data(_ scroll: Scroll, quantizer: Int, updates: ReferenceUpdates) -> [UInt8] {
        var encoder = InterFrameWriter.begin()
        let header = InterFrameWriter.Header(
            quantizer: quantizer, updates: updates, skipProbability: InterFrameWriter.surelyTrue)
        InterFrameWriter.write(header, to: &encoder)
        PredictionModes(size: scroll.size, scroll: scroll).write(after: header, to: &encoder)
        return InterFrameWriter.finish(encoder, coefficients: InterFrameWriter.emptyPartition)
    }
}
