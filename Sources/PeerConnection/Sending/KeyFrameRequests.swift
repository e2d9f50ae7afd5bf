/// Collects key frame requests until they are reported, so that those in one datagram are one request: PLI, FIR, and a
/// frame that the peer can't decode.
///
/// This does not limit the frequency. Receivers repeat a request while a key frame is in flight, and each key frame
/// costs as much as many other frames: the encoder's owner must limit key frames.
struct KeyFrameRequests: Sendable {
    private var isWaiting = false
    /// Whether a request was reported since the last key frame.
    private var isAwaited = false

    /// Records a request.
    mutating func request() {
        isWaiting = true
    }

    /// Records a rejected frame that only a key frame would make decodable. While a key frame is expected, this has no
    /// effect: the frames that were encoded before it are rejected one after the other.
    mutating func frameWasRefused() {
        if !isAwaited { isWaiting = true }
    }

    /// Records that a key frame was sent, which answers all earlier requests.
    mutating func keyFrameWasSent() {
        isWaiting = false
        isAwaited = false
    }

    /// Whether the encoder must receive a request now. This clears the request.
    mutating func take() -> Bool {
        guard isWaiting else { return false }
        isWaiting = false
        isAwaited = true
        return true
    }
}
