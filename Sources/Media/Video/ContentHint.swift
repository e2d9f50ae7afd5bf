/// What a track's pictures are, and so what to keep when not everything fits (W3C mst-content-hint).
public enum ContentHint: String, Sendable, Hashable, CaseIterable {
    /// Nothing is known: told by how the pictures move. A film that fills a screen is taken for `motion` while it plays, all
    /// else for `detail`.
    case none = ""
    /// A camera, a film or a game: the frame rate matters more than sharp edges.
    case motion
    /// Pictures whose detail matters more than the frame rate: a whole desktop.
    case detail
    /// As `detail`, of pictures that are mostly text: a document, an editor, slides.
    case text
}
