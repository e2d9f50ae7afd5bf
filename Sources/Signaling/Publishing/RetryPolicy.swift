/// The decision whether a failed publication is retried.
public enum RetryPolicy: Hashable, Sendable {
    /// A retry fails as well, unless something is changed.
    case permanent
    /// A retry may succeed: the server could not be reached, or has a problem of its own.
    case transient
    /// The server requests a retry, after this time if it names one.
    case retry(after: Duration?)
    /// Somebody there removed it intentionally: it is never retried.
    case removedByServer
}
