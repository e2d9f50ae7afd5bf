/// The reason why a media of a connection can't be sent.
package enum SenderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another sender uses it already.
    case taken
    /// As many as this are in use.
    case limit(Int)
    /// The connection is closed.
    case closed

    /// The problem and a remedy.
    package var description: String {
        switch self {
        case .taken: "this media of the connection is in use; stop its other user first"
        case .limit(let limit): "the connection carries \(limit) media of this kind, and no more are allowed"
        case .closed: "the connection is closed; make a new one, with a new offer"
        }
    }
}
