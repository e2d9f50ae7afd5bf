/// An error in the arguments of an agent.
package enum ICEError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The user name fragment has fewer than 4 or more than 256 characters, or one that is not printable ASCII, or a
    /// colon.
    case invalidUsernameFragment
    /// The password has fewer than 22 or more than 256 characters, or one that is not printable ASCII.
    case invalidPassword

    /// The problem and a valid value.
    package var description: String {
        switch self {
        case .invalidUsernameFragment: "ice-ufrag: 4 to 256 printable characters without ':' are needed"
        case .invalidPassword: "ice-pwd: 22 to 256 printable characters are needed"
        }
    }
}
