internal import RTCShareMedia

/// Prepares a source's frames for an encoder of any codec: the size, the rotation, and the differences from the last
/// encoded frame.
///
///     frame ─▶ scaled and rotated if required ─▶ standing picture ─▶ changes are encoded
struct PictureInput {
    /// The last frame, stored so that it can be encoded again, also at another size.
    private(set) var source: VideoFrame?
    /// The image to encode; nil if no frame could be converted.
    private(set) var picture: StandingPicture?
    /// The scaled and rotated source; nil if its frames need neither.
    private var scaled: ScaledPicture?
    /// The rotation that was applied to `picture`.
    private var turn = VideoRotation.upright
    /// The differences from the last encoded frame.
    private(set) var changed = MacroblockMap(size: PixelSize(width: 0, height: 0))

    /// The clockwise rotation that the viewer must apply.
    var rotation: VideoRotation { turn == .upright ? source?.rotation ?? .upright : .upright }

    /// Sets the frame to encode according to the order; nil for the previous one.
    mutating func take(_ frame: VideoFrame?, order: EncodingOrder) throws(VideoCodingError) {
        guard let source = frame ?? source else { throw .emptyPicture }
        let size = order.sizes(for: source).now
        let rotation = order.settings.turnsPictures ? source.rotation : .upright
        let standing = picture.flatMap { $0.size == size && turn == rotation ? $0 : nil }
        guard frame != nil || standing == nil else { return }
        // The damage of a frame with another size is unknown.
        let damage = self.source?.size == source.size ? source.damage : nil
        let ready = scaled.flatMap { $0.makes(size, of: source.size, turnedBy: rotation) ? $0 : nil }
        // The source is stored before anything can fail, so that it can be retried. An incomplete image is made again.
        self.source = source
        scaled = nil
        picture = nil
        turn = rotation
        let current: StandingPicture
        if let standing {
            current = standing
        } else {
            current = try StandingPicture(size: size)
            changed = MacroblockMap(size: size)
        }
        if source.size == size, rotation == .upright {
            try current.update(from: source.buffer, parts: damage, changed: &changed)
        } else {
            let made: ScaledPicture
            if let ready { made = ready } else { made = try ScaledPicture(size, of: source.size, turnedBy: rotation) }
            let parts = try made.update(from: source.buffer, damage: damage)
            try current.update(from: made.picture, parts: parts, changed: &changed)
            scaled = made
        }
        picture = current
    }

    /// Returns the scrolls since the last encoded frame; nil if nothing moved.
    func findScrolls(
        by search: inout ScrollSearch, _ heuristics: EncoderHeuristics
    ) throws(VideoCodingError) -> ScrollSearch.Finding? {
        guard let picture else { return nil }
        let signature = picture.signature
        guard signature.hasBefore else {
            try signature.update(picture)
            return nil
        }
        guard changed.count >= ScrollSearch.leastMacroblocks else { return nil }
        signature.settle()
        guard heuristics.contains(.sidewaysSearch) else { return search.find(in: signature) }
        return try search.find(in: signature, of: picture)
    }

    /// Returns the fraction of the frame, 0 to 1, that was neither visible before nor moved.
    func newShare(after scrolls: ScrollSearch.Finding?) -> Double {
        scrolls.map { Double($0.remaining.count { $0 != 0 }) / Double(max($0.remaining.count, 1)) } ?? changed.share
    }

    /// Records that the viewers get the frame.
    mutating func didEncode() {
        changed.removeAll()
        picture?.signature.commit()
    }

    /// Records that the viewers get the scroll. It must not be found again, and the other changes, 1 for each
    /// macroblock in `rest`, still have to be encoded.
    mutating func didMove(leaving rest: [UInt8]) {
        changed.replace(with: rest)
        picture?.signature.forget()
    }
}
