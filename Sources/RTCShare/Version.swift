/// The version of the library and of the command line, as [semantic versioning](https://semver.org) counts.
///
/// Public symbols stay compatible until the first number changes. Before 1.0, they stay compatible until the second
/// number changes.
public enum RTCShareVersion {
    /// The version that the program was built with.
    public static let current = "0.9.0"
}
