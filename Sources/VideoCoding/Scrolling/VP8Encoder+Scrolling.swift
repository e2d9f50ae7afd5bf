internal import RTCShareCVPX
internal import RTCShareMedia

extension VP8Encoder {
    /// libvpx's flags for what follows a scroll. Pictures of before it hold nothing that is in its place still, and libvpx,
    /// in as much time, finds better ways to say what is new where it does not look there.
    static let onlyLastPicture = Int(VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF)
    /// By how much frames of one picture are apart: RTP tells frames by their times (RFC 7741 §4.1).
    static let precedingInterval = Duration.milliseconds(1)

    /// Encodes a picture of which parts moved: these are said by vectors, and what they don't explain is coded with them
    /// where that is little, or else by libvpx in a frame that follows.
    ///
    /// `preceding` are the frames that go before the one of the outcome, in order. Where frames of our own can't be sent (see
    /// ``canUpdatePartially``) there are none, and nothing comes of it: nil.
    func encode(
        _ picture: any PixelPlanes, after finding: ScrollSearch.Finding, timestamp: Duration,
        rotation: VideoRotation, ledger: BitLedger
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: Outcome)? {
        let scrolls = finding.scrolls
        guard canUpdatePartially, let updates = model.lastUpdates, let last = scrolls.last,
            scrolls.allSatisfy({ $0.size == picture.size && $0.isExpressible })
        else { return nil }
        self.ledger = ledger
        var (preceding, time) = ([EncodedVideoFrame](), timestamp)
        for scroll in scrolls.dropLast() {
            guard let frame = try encodeScroll(scroll, timestamp: time, rotation: rotation) else { return nil }
            preceding.append(frame)
            time += Self.precedingInterval
        }
        let changed = MacroblockMap(size: picture.size, cells: finding.remaining)
        let basis = PartialUpdateCoder.Basis(model, configuration)
        var partial: PartialUpdateCoder.PartialUpdate?
        try changeReference { (reference) throws(VideoCodingError) -> Void? in
            reference.apply(last)
            quality.move(last)
            quality.smear(finding.smeared)
            guard changed.count <= PartialUpdateCoder.largestScrolledUpdate, let basis else { return () }
            partial = try partialUpdates.code(
                picture, over: reference, after: last, changed: changed, quality: quality, basis,
                ledger: self.ledger, timestamp: timestamp)
            return ()
        }
        if let partial {
            var frame = makeFrame(partial, timestamp: time, rotation: rotation)
            frame.isScroll = true
            return (preceding, .encoded(frame))
        }
        // The reference has moved: the viewer is told so first.
        let quantizer = try library.context.lastQuantizer()
        let data = ScrollFrame.data(last, quantizer: quantizer, updates: updates)
        preceding.append(makeFrame(data, quantizer: quantizer, timestamp: time, rotation: rotation))
        time += Self.precedingInterval
        followsScroll = true
        let outcome = try encodeWithLibrary(
            picture, timestamp: time, rotation: rotation, asKeyFrame: false, changed: changed)
        guard case .encoded(var frame) = outcome else { return (preceding, outcome) }
        frame.isScroll = true
        return (preceding, .encoded(frame))
    }

    /// Encodes that a part of the picture moved, and nothing else; nil where it can't: see ``canUpdatePartially``.
    func encodeScroll(
        _ scroll: Scroll, timestamp: Duration, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard canUpdatePartially, let updates = model.lastUpdates, scroll.size == configuration.size,
            scroll.isExpressible
        else {
            return nil
        }
        let quantizer = try library.context.lastQuantizer()
        let data = ScrollFrame.data(scroll, quantizer: quantizer, updates: updates)
        try changeReference { $0.apply(scroll) as Void? }
        quality.move(scroll)
        followsScroll = true
        return makeFrame(data, quantizer: quantizer, timestamp: timestamp, rotation: rotation)
    }
}
