package import RTCShareWireFormat

/// An address of one of this machine's interfaces, with the kernel's information about both.
package struct InterfaceAddress: Hashable, Sendable {
    /// The kind of an interface.
    package enum Kind: Hashable, Sendable {
        /// A network, as far as is known.
        case network
        /// A link to one other machine, through which others may be reached: a VPN, a modem.
        case tunnel
        /// A bridge, usually to virtual machines and containers of this machine only.
        case bridge
    }

    /// The state of an address (`IFA_F_…` of linux/if_addr.h).
    struct State: OptionSet, Hashable {
        let rawValue: UInt32
        /// Replaced soon, to prevent tracking (RFC 8981).
        static let temporary = State(rawValue: 0x01)
        /// Usable although it is tentative (RFC 4429).
        static let optimistic = State(rawValue: 0x04)
        /// Another machine has it.
        static let duplicate = State(rawValue: 0x08)
        /// Not for new connections, because it expires soon (RFC 4862 §5.5.4).
        static let deprecated = State(rawValue: 0x20)
        /// Not verified yet to be unique in the network (RFC 4862 §5.4).
        static let tentative = State(rawValue: 0x40)
    }

    package var ip: IPAddress
    /// The interface's number.
    package var interface: UInt32 = 0
    /// The interface's name.
    package var name = ""
    package var kind = Kind.network
    /// Whether the interface is up and has a carrier.
    package var isRunning = true
    var prefixLength: UInt8 = 0
    var state: State = []

    /// Whether a socket can be bound to the address.
    var isReady: Bool {
        !state.contains(.duplicate) && (!state.contains(.tentative) || state.contains(.optimistic))
    }

    /// Whether the address is one of those that are replaced soon.
    package var isTemporary: Bool { state.contains(.temporary) }

    /// Whether the address is ready, and will be for the next hours.
    package var isLasting: Bool { isReady && !isTemporary && !state.contains(.deprecated) }

    /// Whether another address has the same interface and prefix.
    package func sharesNetwork(with other: InterfaceAddress) -> Bool {
        interface == other.interface && ip.isV4 == other.ip.isV4
            && ip.prefix(prefixLength) == other.ip.prefix(other.prefixLength)
    }
}

extension InterfaceAddress {
    /// Returns every address of the interfaces, in the kernel's order.
    static func all() throws -> [InterfaceAddress] {
        // Some sandboxes permit listing addresses, but not interfaces.
        let interfaces = (try? Netlink.list(getLink, byteCount: linkByteCount).compactMap(Interface.init)) ?? []
        let byNumber = Dictionary(interfaces.map { ($0.number, $0) }) { first, _ in first }
        return try Netlink.list(getAddress, byteCount: addressByteCount).compactMap { message in
            InterfaceAddress(message) { byNumber[$0] }
        }
    }

    /// `RTM_NEWLINK`, `RTM_GETLINK`, `RTM_NEWADDR` and `RTM_GETADDR` of linux/rtnetlink.h, and the sizes of `ifinfomsg`
    /// and `ifaddrmsg`.
    private static let (newLink, getLink, linkByteCount): (UInt16, UInt16, Int) = (16, 18, 16)
    private static let (newAddress, getAddress, addressByteCount): (UInt16, UInt16, Int) = (20, 22, 8)

    /// An interface in a list.
    struct Interface {
        let number: UInt32
        let name: String
        let kind: Kind
        let isRunning: Bool

        init?(_ message: Netlink.Message) {
            guard message.type == newLink, let number: UInt32 = message.body.native(at: 4),
                let flags: UInt32 = message.body.native(at: 8)
            else { return nil }
            // `IFLA_IFNAME`, `IFLA_LINKINFO` and in it `IFLA_INFO_KIND` of linux/if_link.h.
            let attributes = Netlink.attributes(in: message.body.dropFirst(linkByteCount))
            let driver = attributes[18].flatMap { Netlink.attributes(in: $0)[1] }?.zeroTerminated
            self.number = number
            name = attributes[3]?.zeroTerminated ?? ""
            // `IFF_RUNNING` and `IFF_POINTOPOINT` of linux/if.h.
            isRunning = flags & 0x40 != 0
            if driver == "bridge" || driver == "dummy" || Self.isOfHypervisor(name) {
                kind = .bridge
            } else {
                kind = driver == "tun" || flags & 0x10 != 0 ? .tunnel : .network
            }
        }

        /// Returns whether an interface connects guests of VirtualBox or VMware, which only the name shows.
        private static func isOfHypervisor(_ name: String) -> Bool {
            name.hasPrefix("vboxnet") || name.hasPrefix("vmnet")
        }
    }

    init?(_ message: Netlink.Message, interface: (UInt32) -> Interface?) {
        guard message.type == Self.newAddress, let prefixLength: UInt8 = message.body.native(at: 1),
            let state: UInt8 = message.body.native(at: 2), let number: UInt32 = message.body.native(at: 4)
        else { return nil }
        // `IFA_LOCAL`, `IFA_ADDRESS` (of a tunnel, the other end's) and `IFA_FLAGS` of linux/if_addr.h.
        let attributes = Netlink.attributes(in: message.body.dropFirst(Self.addressByteCount))
        guard let ip = (attributes[2] ?? attributes[1]).flatMap(IPAddress.init(networkOrder:)) else { return nil }
        let known = interface(number)
        self.init(
            ip: ip, interface: number, name: known?.name ?? "", kind: known?.kind ?? .network,
            isRunning: known?.isRunning ?? true, prefixLength: prefixLength,
            state: State(rawValue: attributes[8]?.native(at: 0) ?? UInt32(state)))
    }
}

extension IPAddress {
    /// Creates the address of 4 or 16 bytes.
    fileprivate init?(networkOrder bytes: ArraySlice<UInt8>) {
        if bytes.count == 4, let value: UInt32 = bytes.native(at: 0) {
            self = .v4(UInt32(bigEndian: value))
        } else if bytes.count == 16, let high: UInt64 = bytes.native(at: 0), let low: UInt64 = bytes.native(at: 8) {
            self = .v6(UInt64(bigEndian: high), UInt64(bigEndian: low))
        } else {
            return nil
        }
    }

    /// Returns the first `length` bits, with the others zero.
    func prefix(_ length: UInt8) -> IPAddress {
        let length = Int(length)
        return switch self {
        case .v4(let value): .v4(value & ~(UInt32.max >> min(length, 32)))
        case .v6(let high, let low):
            .v6(high & ~(UInt64.max >> min(length, 64)), low & ~(UInt64.max >> min(max(0, length - 64), 64)))
        }
    }
}
