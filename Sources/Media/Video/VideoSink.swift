/// A receiver of frames. The source calls it on its own thread, so its methods must return without waiting.
public protocol VideoSink: AnyObject, Sendable {
    /// Receives the newest frame.
    func receive(_ frame: VideoFrame)
    /// Called when no frame will follow; `error` is the reason, or nil if the end was requested.
    func sourceDidEnd(error: (any Error)?)
    /// Called with the kind of the source's video when the sink is added, and at each change.
    func contentHintDidChange(_ hint: ContentHint)
    /// Called when the source is muted or unmuted, and when the sink is added to a muted source.
    func muteDidChange(_ isMuted: Bool)
    /// The demand for a frame now. A source that can wait checks it before it creates a frame, and again later if there
    /// is no demand. Other sources send their frames anyway.
    var demand: FrameDemand { get }
}

/// The kind of frames that a sink needs now.
public enum FrameDemand: Int, Sendable, Comparable {
    /// No frame: a newer one would replace it before it is used.
    case nothing
    /// A frame with a change.
    case changes
    /// Any frame, changed or not: the sink has not received the current one yet.
    case picture

    /// Returns whether the first demand is lower.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

extension VideoSink {
    /// The demand for every change.
    public var demand: FrameDemand { .changes }
    /// Ignores the end.
    public func sourceDidEnd(error: (any Error)?) {}
    /// Ignores the hint.
    public func contentHintDidChange(_ hint: ContentHint) {}
    /// Ignores the mute.
    public func muteDidChange(_ isMuted: Bool) {}
}
