internal import RTCShareMedia

/// From a source's frames to the picture that an encoder of any codec is given: its size, its turn, and where it differs from
/// what was encoded last.
///
///     frame ─▶ scaled and turned, where that is asked for ─▶ standing picture ─▶ what changed is encoded
struct PictureInput {
    /// The frame last taken, kept so that it can be encoded again, at another size too.
    private(set) var source: VideoFrame?
    /// What is to be encoded; nil where no frame could be taken.
    private(set) var picture: StandingPicture?
    /// What the source gives as it is to be, where that is not as it comes.
    private var scaled: ScaledPicture?
    /// The turn that is done to `picture` already.
    private var turn = VideoRotation.upright
    /// Where the picture differs from what was encoded last.
    private(set) var changed = MacroblockMap(size: PixelSize(width: 0, height: 0))

    /// How far the viewer must turn the picture.
    var rotation: VideoRotation { turn == .upright ? source?.rotation ?? .upright : .upright }

    /// The frame is what is encoded from now on, as the order says; nil is the one before.
    mutating func take(_ frame: VideoFrame?, order: EncodingOrder) throws(VideoCodingError) {
        guard let source = frame ?? source else { throw .emptyPicture }
        let size = order.sizes(for: source).now
        let rotation = order.settings.turnsPictures ? source.rotation : .upright
        let standing = picture.flatMap { $0.size == size && turn == rotation ? $0 : nil }
        guard frame != nil || standing == nil else { return }
        // What changed in a picture of another size is not known.
        let damage = self.source?.size == source.size ? source.damage : nil
        let ready = scaled.flatMap { $0.makes(size, of: source.size, turnedBy: rotation) ? $0 : nil }
        // Kept before anything can fail, so that it can be tried again; what was begun and failed is made anew.
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

    /// Viewers get the picture.
    mutating func didEncode() {
        changed.removeAll()
        picture?.signature.commit()
    }

    /// Viewers get what moved where it is now. It is not to be found again, and what else changed, 1 for each macroblock in
    /// `rest`, is still to be encoded.
    mutating func didMove(leaving rest: [UInt8]) {
        changed.replace(with: rest)
        picture?.signature.forget()
    }
}
