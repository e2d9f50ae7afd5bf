import Testing

extension Interop {
    /// The command line over networks like those that people have. Needs root: each test makes its network.
    @Suite(.serialized, .enabled(if: TestNetwork.missing == nil, "\(TestNetwork.missing ?? "")"))
    enum NetworkTests {
        static let stun = ["--ice-server", "stun:\(TestNetwork.serverV4)"]
    }
}
