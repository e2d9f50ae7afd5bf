/// The roots of trust of TLS connections to servers.
public enum TrustRoots: Sendable, Hashable {
    /// The system's certificates.
    case system
    /// Only those in a file of PEM certificates.
    case file(String)
}
