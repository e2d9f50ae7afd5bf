internal import RTCShareTransport
internal import RTCShareWireFormat

/// The ports of a share, in messages about the router.
struct PortWords {
    let page: ForwardedPort
    let media: ForwardedPort
    /// This machine's address on the router's network.
    let local: IPAddress?

    /// Both ports, as `TCP port 8080 and UDP port 8080`.
    var both: String { "\(page.words) and \(media.words)" }
    /// The machine that a router must forward the ports to.
    var target: String { local.map(\.description) ?? "this machine" }
}

extension ForwardedPort {
    /// The port as `TCP port 8080`.
    var words: String { "\(transport.name) port \(number)" }
}

extension PortMappingError {
    /// Returns the reason and the remedy for a port of a share, or for ports in general.
    func explanation(of port: ForwardedPort? = nil, _ ports: PortWords? = nil) -> Explanation {
        let byHand = ports.map { ", or forward \($0.both) to \($0.target) there" } ?? ""
        let what = port?.words ?? "ports"
        switch self {
        case .noRouter:
            return Explanation("this machine has no router for IPv4", remedy: "connect this machine to a network")
        case .noAnswer(let router, let problem):
            let without = problem.map { " (UPnP was not tried: \($0))" } ?? ""
            return Explanation(
                "the router \(router) does not answer PCP, NAT-PMP or UPnP" + without,
                remedy: "enable UPnP, NAT-PMP or PCP in the router's settings" + byHand)
        case .refused(let router, let method, let reason):
            let refusal = "the router \(router) refuses to forward \(what) (\(method.rawValue))"
            switch reason {
            case .notAuthorized:
                return Explanation(
                    "\(refusal): its settings forbid it",
                    remedy: "permit this machine in the router's settings" + byHand)
            case .noOutsideAddress:
                return Explanation(
                    "\(refusal): it has no public address, because it is offline or another router is in front of it",
                    remedy: Self.bridge)
            case .noResources:
                return Explanation("\(refusal): it has no room for another port", remedy: "restart the router" + byHand)
            case .portTaken:
                return Explanation("\(refusal): another machine uses the port", remedy: "another port with --listen")
            case .unsupported:
                return Explanation(
                    "\(refusal): it does not support that", remedy: "enable UPnP in the router's settings" + byHand)
            case .addressMismatch:
                return Explanation(
                    "\(refusal): another router is between this machine and it", remedy: Self.bridge)
            case .other(let code):
                return Explanation(
                    "\(refusal): it reports error \(code)",
                    remedy: "permit this machine in the router's settings" + byHand)
            }
        }
    }

    /// The remedy for a router behind another one.
    fileprivate static let bridge = "bridge mode on one of the routers"
}

extension OutsideReach {
    /// Returns the reason why the internet does not reach a router's outside address, with a remedy; nil if it does.
    func explanation(of outside: IPAddress, router: IPAddress?, _ ports: PortWords? = nil) -> Explanation? {
        let name = router.map { "the router \($0)" } ?? "the router"
        switch self {
        case .everywhere: return nil
        case .otherNetwork:
            let byHand = ports.map { ", or forward \($0.both) to \(outside) on the other router" } ?? ""
            return Explanation(
                "\(name) has the private address \(outside) outside, because another router is in front of it",
                remedy: PortMappingError.bridge + byHand)
        case .carrier:
            return Explanation(
                "\(name) has the address \(outside) outside, which its provider shares among customers "
                    + "(carrier-grade NAT)",
                remedy: "ask the provider for a public IPv4 address, or share through a server with --public-url and "
                    + "--ice-server turn:HOST")
        }
    }
}
