/// Gathers what asks for a key frame until that is passed on, so that what comes in one datagram is one request: PLI, FIR,
/// and a frame that the peer can't decode.
///
/// Nothing is spaced here. Receivers repeat a request while a key frame is under way, and each key frame costs as much as
/// many other frames: whoever makes them has to say when the next one is due.
struct KeyFrameRequests: Sendable {
    private var isWaiting = false
    /// Whether a request was passed on since the last key frame.
    private var isAwaited = false

    /// Somebody needs a key frame.
    mutating func request() {
        isWaiting = true
    }

    /// A frame was refused that only a key frame makes decodable. While one is awaited anyway, that says nothing new: the
    /// frames that were on their way before it are refused one after the other.
    mutating func frameWasRefused() {
        if !isAwaited { isWaiting = true }
    }

    /// A key frame was given to the sender: it answers all who asked before.
    mutating func keyFrameWasSent() {
        isWaiting = false
        isAwaited = false
    }

    /// Whether the encoder is to be asked now; it is then not to be asked again for the same.
    mutating func take() -> Bool {
        guard isWaiting else { return false }
        isWaiting = false
        isAwaited = true
        return true
    }
}
