/// The library's version, and the command line's, as [semantic versioning](https://semver.org) counts: `RTCShare.version`.
///
/// What is public stays as it is until the first of the three numbers changes; before 1.0, until the second does.
public let version = "0.9.0"
