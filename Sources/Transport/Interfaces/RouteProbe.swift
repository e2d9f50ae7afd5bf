internal import Glibc
internal import NIOCore
internal import RTCShareWireFormat

/// Asks the kernel whether a datagram could be sent from one address to another.
///
/// SwiftNIO closes a datagram channel when a send fails without a route. So a temporary socket is tried first:
/// connecting it sends nothing, and fails with the error of the send.
struct RouteProbe {
    private let probe: (IPAddress, TransportAddress) -> Bool
    private var answers: [Path: Answer] = [:]
    /// The maximum number of remembered destinations, because a peer can name any number.
    static let maximumAnswers = 256
    /// The time after which a missing route is checked again, because an interface may return.
    private static let patience = Duration.milliseconds(500)

    private struct Answer {
        let hasRoute: Bool
        let given: Instant
    }

    private struct Path: Hashable {
        let source: IPAddress
        let destination: TransportAddress
    }

    /// Creates an empty probe, which asks the kernel or, in a test, its replacement.
    init(asking probe: @escaping (IPAddress, TransportAddress) -> Bool = Self.kernelHasRoute) {
        self.probe = probe
    }

    /// Returns whether there is a route. An existing route is remembered until ``forget()``, because the system reports
    /// its end by closing the socket; a missing one is checked again after a while.
    mutating func hasRoute(from source: IPAddress, to destination: TransportAddress, now: Instant) -> Bool {
        guard source.isV4 == destination.ip.isV4, destination.port != 0 else { return false }
        let path = Path(source: source, destination: destination)
        if let answer = answers[path], answer.hasRoute || now - answer.given < Self.patience { return answer.hasRoute }
        if answers.count >= Self.maximumAnswers { forget() }
        let hasRoute = probe(source, destination)
        answers[path] = Answer(hasRoute: hasRoute, given: now)
        return hasRoute
    }

    /// Forgets all routes after a possible change.
    mutating func forget() {
        answers.removeAll(keepingCapacity: true)
    }

    private static func kernelHasRoute(from sourceIP: IPAddress, to address: TransportAddress) -> Bool {
        guard let source = try? TransportAddress(ip: sourceIP, port: 0).socketAddress,
            let destination = try? address.socketAddress
        else { return false }
        let family = sourceIP.isV4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Without a descriptor for the test, the send itself is the test.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return source.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
            && destination.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
    }
}
