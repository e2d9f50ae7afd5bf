/// The version of the library and of the command line, as [semantic versioning](https://semver.org) counts.
///
/// What is public stays as it is until the first of the three numbers changes; before 1.0, until the second does.
public enum RTCShareVersion {
    /// The version that the program was built with.
    public static let current = "0.9.0"
}
