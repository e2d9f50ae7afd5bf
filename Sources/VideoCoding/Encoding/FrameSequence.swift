/// Where each frame stands in its stream: its temporal layer, and the time that libvpx is told.
struct FrameSequence {
    private var pattern: TemporalPattern
    private var clock = PresentationClock()
    /// The index before the first frame of the base layer, which is 0.
    private var baseLayerIndex = UInt8.max

    init(layerCount: Int) {
        pattern = TemporalPattern(layerCount: layerCount)
    }

    /// Begins the pattern of so many layers.
    mutating func begin(layerCount: Int) {
        pattern = TemporalPattern(layerCount: layerCount)
    }

    /// The layer of libvpx's next frame. It does not count before it was made.
    mutating func next(isKeyFrame: Bool) -> TemporalPattern.Step { pattern.next(isKeyFrame: isKeyFrame) }

    /// What such a frame may take beside the mean of all frames.
    func weight(of step: TemporalPattern.Step) -> Double { pattern.weight(ofLayer: step.layer) }

    /// The presentation time and duration of libvpx's next frame.
    mutating func time(of timestamp: Duration, framesPerSecond: Double) -> (ticks: Int, duration: Int) {
        clock.next(timestamp: timestamp, framesPerSecond: framesPerSecond)
    }

    /// libvpx made its next frame.
    mutating func didEncode(_ step: TemporalPattern.Step) -> TemporalLayer {
        pattern.advance()
        if step.layer == 0 { baseLayerIndex &+= 1 }
        return TemporalLayer(
            id: step.layer, isSync: step.isSync, baseLayerIndex: baseLayerIndex, count: pattern.layerCount)
    }

    /// A frame of the one layer was made that libvpx learns nothing of: the time of its next one is counted from the one
    /// before.
    mutating func didInsert() -> TemporalLayer {
        baseLayerIndex &+= 1
        return TemporalLayer(baseLayerIndex: baseLayerIndex)
    }
}
