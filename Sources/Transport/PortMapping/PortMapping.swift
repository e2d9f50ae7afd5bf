package import RTCShareWireFormat

/// A port of this machine that a router forwards from its outside address.
package struct ForwardedPort: Hashable, Sendable {
    /// The transport of a port.
    package enum Transport: Hashable, Sendable {
        /// UDP.
        case udp
        /// TCP.
        case tcp

        /// The protocol's number (IANA).
        var number: UInt8 { self == .udp ? 17 : 6 }
        /// The name in messages for people and in UPnP.
        package var name: String { self == .udp ? "UDP" : "TCP" }
    }

    /// The transport.
    package let transport: Transport
    /// The port number on this machine.
    package let number: UInt16

    /// Creates a port.
    package init(_ transport: Transport, _ number: UInt16) {
        (self.transport, self.number) = (transport, number)
    }
}

/// The protocol by which a router forwards ports.
package enum PortMappingProtocol: String, Hashable, Sendable, Encodable {
    /// Port Control Protocol (RFC 6887).
    case pcp = "PCP"
    /// NAT Port Mapping Protocol (RFC 6886).
    case natPMP = "NAT-PMP"
    /// Internet Gateway Device of UPnP.
    case upnp = "UPnP"
}

/// The reason why a router does not forward a port.
package enum PortMappingRefusal: Hashable, Sendable {
    /// The router's settings forbid it.
    case notAuthorized
    /// The router has no outside address, or an unsuitable one.
    case noOutsideAddress
    /// The router has no room for more.
    case noResources
    /// The port is used by another machine.
    case portTaken
    /// The router can't forward such a port.
    case unsupported
    /// Another router translates this machine's address on the way to the router.
    case addressMismatch
    /// Another reason, with its number in the protocol.
    case other(Int)

    /// Creates the reason of a result code of PCP (RFC 6887 §7.4).
    init(pcp code: UInt8) {
        self =
            switch code {
            case 2: .notAuthorized
            case 7: .noOutsideAddress
            case 8, 10: .noResources
            case 11: .portTaken
            case 1, 4, 5, 9: .unsupported
            case 12: .addressMismatch
            default: .other(Int(code))
            }
    }

    /// Creates the reason of a result code of NAT-PMP (RFC 6886 §3.5).
    init(natPMP code: UInt16) {
        self =
            switch code {
            case 2: .notAuthorized
            case 3: .noOutsideAddress
            case 4: .noResources
            case 1, 5: .unsupported
            default: .other(Int(code))
            }
    }

    /// Creates the reason of an error code of UPnP's WANIPConnection service.
    init(upnp code: Int32) {
        self =
            switch code {
            case 606: .notAuthorized
            case 718, 729: .portTaken
            case 728: .noResources
            default: .other(Int(code))
            }
    }
}

/// The reason why a port has no outside address.
package enum PortMappingError: Error, Hashable, Sendable {
    /// This machine has no router for IPv4.
    case noRouter
    /// The router answers by no protocol. With UPnP left out, the reason for that.
    case noAnswer(router: IPAddress, upnpProblem: String?)
    /// The router does not forward the port.
    case refused(router: IPAddress, PortMappingProtocol, PortMappingRefusal)
}

/// The network from which an outside address can be reached.
package enum OutsideReach: String, Hashable, Sendable, Encodable {
    /// The internet.
    case everywhere
    /// The network of another router (RFC 1918).
    case otherNetwork = "other network"
    /// The network of a provider that translates it: shared addresses (RFC 6598), or those of DS-Lite and 464XLAT
    /// (RFC 7335).
    case carrier

    /// Determines the reach of a router's outside address.
    package init(_ address: IPAddress) {
        self =
            if case .v4(let value) = address, value >> 22 == 0x64_40 >> 6 || value >> 8 == 0xC000_00 {
                .carrier
            } else {
                address.isPrivate ? .otherNetwork : .everywhere
            }
    }
}

extension IPAddress {
    /// Whether a router can have this address outside: an IPv4 address, but none of "this network", loopback, benchmarks
    /// (RFC 6890), groups and the reserved rest.
    var canBeOutside: Bool {
        guard case .v4(let value) = self else { return false }
        return value >> 24 != 0 && !isLoopback && value >> 17 != 0xC612 >> 1 && value >> 29 != 7
    }
}
