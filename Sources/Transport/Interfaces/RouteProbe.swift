internal import Glibc
internal import NIOCore
internal import RTCShareWireFormat

/// Asks the kernel whether a datagram from one address could leave for another.
///
/// SwiftNIO closes a datagram channel when a send fails for want of a route. A throwaway socket is asked first:
/// connecting it sends nothing, and fails with the error that the send would meet.
struct RouteProbe {
    private let probe: (IPAddress, TransportAddress) -> Bool
    private var answers: [Path: Answer] = [:]
    /// A peer names destinations as it likes; what is remembered of them stays bounded.
    static let maximumAnswers = 256
    /// How long a missing route is taken for missing: an interface that went away may be back.
    private static let patience = Duration.milliseconds(500)

    private struct Answer {
        let hasRoute: Bool
        let given: Instant
    }

    private struct Path: Hashable {
        let source: IPAddress
        let destination: TransportAddress
    }

    /// A probe that remembers nothing yet; it asks the kernel, or in a test whoever stands for it.
    init(asking probe: @escaping (IPAddress, TransportAddress) -> Bool = Self.kernelHasRoute) {
        self.probe = probe
    }

    /// Whether there is a route. One that exists is remembered until ``forget()``, for the system says where it ends by
    /// closing the socket; one that is missing is asked for again after a while.
    mutating func hasRoute(from source: IPAddress, to destination: TransportAddress, now: Instant) -> Bool {
        guard source.isV4 == destination.ip.isV4, destination.port != 0 else { return false }
        let path = Path(source: source, destination: destination)
        if let answer = answers[path], answer.hasRoute || now - answer.given < Self.patience { return answer.hasRoute }
        if answers.count >= Self.maximumAnswers { forget() }
        let hasRoute = probe(source, destination)
        answers[path] = Answer(hasRoute: hasRoute, given: now)
        return hasRoute
    }

    /// Routes may have changed: ask again.
    mutating func forget() {
        answers.removeAll(keepingCapacity: true)
    }

    private static func kernelHasRoute(from sourceIP: IPAddress, to address: TransportAddress) -> Bool {
        guard let source = try? TransportAddress(ip: sourceIP, port: 0).socketAddress,
            let destination = try? address.socketAddress
        else { return false }
        let family = sourceIP.isV4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Without a descriptor to ask with, the send itself has to find out.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return source.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
            && destination.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
    }
}
