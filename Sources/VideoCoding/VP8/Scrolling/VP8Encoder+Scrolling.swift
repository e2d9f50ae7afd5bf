internal import RTCShareCVPX
internal import RTCShareMedia

extension VP8Encoder {
    /// libvpx's flags for a frame after a scroll. Older references have no content at its current place, and without
    /// them libvpx finds better codes for new content in the same time.
    static let onlyLastPicture = Int(VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF)
    /// The interval of the timestamps of frames for one image: RTP distinguishes frames by timestamp (RFC 7741 §4.1).
    static let precedingInterval = Duration.milliseconds(1)

    /// Encodes a frame of which parts moved: vectors express the moves, and the rest is coded with them if it is small,
    /// otherwise by libvpx in a following frame.
    ///
    /// `preceding` are the frames before the one in the outcome, in order. Returns nil if our own frames can't be sent
    /// (see ``canUpdatePartially``).
    func encode(
        _ picture: any PixelPlanes, after finding: ScrollSearch.Finding, timestamp: Duration,
        rotation: VideoRotation, ledger: BitLedger
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome)? {
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
        // The reference frame has moved, so that the viewer must get that first.
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

    /// Encodes a move of a part of the frame, and nothing else; nil if that is not possible: see
    /// ``canUpdatePartially``.
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
