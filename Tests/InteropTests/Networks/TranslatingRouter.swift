/// What stands between a host and the public segment of a ``TestNetwork``.
enum Attachment: String, Sendable {
    /// The host is on the public segment itself.
    case direct
    /// A NAT that maps each port to itself and takes packets in from everybody (RFC 4787: endpoint-independent mapping and
    /// filtering).
    case fullCone
    /// The same mapping; packets come in only from addresses that the port has sent to.
    case addressRestricted
    /// The same mapping; packets come in only from the address and port that the port has sent to.
    case portRestricted
    /// A mapping with a random port for each destination, and the strictest filtering.
    case symmetric
    /// A firewall that lets TCP connections out, and nothing else.
    case udpBlocked

    var hasRouter: Bool { self != .direct }

    /// The rules of the router, whose interfaces are `wan` and `lan`, in nft's language.
    ///
    /// What is not for anybody inside is dropped before the router itself can refuse it: an entry of the connection
    /// tracking would take the port from the mapping that the host is about to make. IPv6 is not translated: there the
    /// router is a firewall that lets in what answers.
    func rules(host: String) -> String {
        """
        table ip translation {
            set contacted { type ipv4_addr . inet_service; flags dynamic,timeout; timeout 60s; }
            chain outward {
                type nat hook postrouting priority srcnat;
                \(outward)
            }
            chain inward {
                type nat hook prerouting priority dstnat;
                \(inward(host: host))
            }
            chain remember {
                type filter hook forward priority filter - 1;
                iifname "lan" meta l4proto udp add @contacted { ip daddr . udp sport }
            }
        }
        table inet firewall {
            chain forward {
                type filter hook forward priority filter; policy drop;
                \(self == .udpBlocked ? "meta l4proto udp drop" : "")
                ct state established,related accept
                iifname "lan" accept
                ct status dnat accept
            }
            chain input {
                type filter hook input priority filter; policy drop;
                iifname { "lan", "lo" } accept
                ct state established,related accept
                meta l4proto { icmp, ipv6-icmp } accept
            }
        }
        """
    }

    private var outward: String {
        // Connection tracking keeps the port where it is free, which makes the mapping endpoint-independent.
        self == .symmetric ? "oifname \"wan\" masquerade fully-random" : "oifname \"wan\" masquerade"
    }

    private func inward(host: String) -> String {
        switch self {
        case .fullCone: "iifname \"wan\" meta l4proto udp dnat to \(host)"
        case .addressRestricted: "iifname \"wan\" ip saddr . udp dport @contacted dnat to \(host)"
        case .direct, .portRestricted, .symmetric, .udpBlocked: ""
        }
    }
}
