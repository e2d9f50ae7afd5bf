/// An event of a session from the server.
enum SessionNotice: Sendable {
    /// So many packets were lost, at most 65536.
    case losses(Int)
    /// The session has ended, with an error if it failed, without one if the server ended it.
    case ended((any Error)?)
}
