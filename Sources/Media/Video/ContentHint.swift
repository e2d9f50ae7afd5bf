/// The kind of a track's video, which determines what to preserve at a low bitrate (W3C mst-content-hint).
public enum ContentHint: String, Sendable, Hashable, CaseIterable {
    /// Unknown: the encoder detects it from motion. A video that fills a screen is `motion` while it plays, and
    /// everything else is `detail`.
    case none = ""
    /// A camera, a video or a game: the frame rate is more important than sharp edges.
    case motion
    /// Details are more important than the frame rate: a whole desktop.
    case detail
    /// Like `detail`, for frames that are mostly text: a document, an editor, slides.
    case text
}
