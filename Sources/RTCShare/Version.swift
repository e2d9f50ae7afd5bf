/// The version of the library and of the command line, as a [semantic version](https://semver.org): `RTCShare.version`.
///
/// Public symbols stay compatible until the first number changes. Before 1.0, they stay compatible until the second
/// number changes.
public let version = "0.9.0"
