internal import NIOCore
internal import NIOPosix
package import RTCShareWireFormat

/// The port forwarding of this machine's router.
package struct RouterDiagnosis: Sendable {
    /// The public address of this machine itself, which needs no router; nil if it has none.
    package var own: IPAddress?
    /// The router; nil if there is none.
    package var router: IPAddress?
    /// The protocol by which it forwards ports; nil if it does not.
    package var method: PortMappingProtocol?
    /// The outside address of a port, or the reason why it has none.
    package var outcome = PortMapper.Outcome.failure(.noRouter)

    /// Creates the diagnosis of a machine without a router.
    package init() {}

    /// Makes the router forward an unused UDP port for a moment.
    package static func examine() async -> RouterDiagnosis {
        await examine(on: MultiThreadedEventLoopGroup.singleton.next())
    }

    static func examine(on eventLoop: any EventLoop) async -> RouterDiagnosis {
        var diagnosis = RouterDiagnosis()
        diagnosis.own = NetworkInterfaces.ownPublicAddress
        guard diagnosis.own == nil, let route = DefaultRoute.current() else { return diagnosis }
        diagnosis.router = route.gateway
        // No other program of this machine receives at the port in the meantime.
        let socket = BindingSocket(eventLoop: eventLoop)
        guard let port = try? await socket.open(at: route.local).port else {
            diagnosis.outcome = .failure(.noAnswer(router: route.gateway, upnpProblem: nil))
            return diagnosis
        }
        let mapper = PortMapper(on: eventLoop)
        do {
            diagnosis.outcome = .success(try await mapper.open(ForwardedPort(.udp, port)))
        } catch {
            diagnosis.outcome = .failure(error)
        }
        diagnosis.method = await mapper.methods.first
        await mapper.close()
        await socket.close()
        return diagnosis
    }
}

extension NetworkInterfaces {
    /// This machine's IPv4 address for the internet, if no router translates it; nil otherwise.
    package static var ownPublicAddress: IPAddress? {
        routedAddresses().first { $0.isV4 && OutsideReach($0) == .everywhere }
    }
}
