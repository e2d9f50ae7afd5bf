/// The sources from which a NAT or firewall admits packets to an address that was used (RFC 4787 §5, RFC 5780 §4.4).
package enum NATFiltering: String, Sendable, Hashable, Codable {
    /// All sources.
    case endpointIndependent = "endpoint-independent"
    /// The addresses to which packets were sent.
    case addressDependent = "address-dependent"
    /// The addresses and ports to which packets were sent.
    case addressAndPortDependent = "address- and port-dependent"
    /// No server supports this test (RFC 5780).
    case unknown

    /// Creates the result of whether a server's answer arrived from its other address, and only from its other port;
    /// nil for a test that was not made.
    package init(fromOtherAddress: Bool?, fromOtherPort: Bool?) {
        switch (fromOtherAddress, fromOtherPort) {
        case (true?, _): self = .endpointIndependent
        case (false?, true?): self = .addressDependent
        case (false?, false?): self = .addressAndPortDependent
        case (nil, _), (false?, nil): self = .unknown
        }
    }
}
