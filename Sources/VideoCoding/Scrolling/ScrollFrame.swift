internal import RTCShareMedia

/// Writes a VP8 frame that holds nothing but motion vectors: it shows the picture before, a part of it moved.
///
/// libvpx finds in real time what moved by some sixteen rows, and codes a page anew that scrolled farther. This frame
/// says it in some hundred bytes, whatever the distance. It leaves everything as it was that later frames build on, but
/// for the last picture and what is told: no probability is kept (RFC 6386 §9.11), no segment and no filter changes.
enum ScrollFrame {
    /// The frame; `quantizer`, 0 to 127, is only told, since nothing is quantized. The scroll has to be expressible.
    /// `updates` says what the frame becomes beside the last picture.
    static func data(_ scroll: Scroll, quantizer: Int, updates: ReferenceUpdates) -> [UInt8] {
        var encoder = InterFrameWriter.begin()
        let header = InterFrameWriter.Header(
            quantizer: quantizer, updates: updates, skipProbability: InterFrameWriter.surelyTrue)
        InterFrameWriter.write(header, to: &encoder)
        PredictionModes(size: scroll.size, scroll: scroll).write(after: header, to: &encoder)
        return InterFrameWriter.finish(encoder, coefficients: InterFrameWriter.emptyPartition)
    }
}
