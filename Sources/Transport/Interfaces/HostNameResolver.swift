internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RTCShareICE
internal import RTCShareWireFormat

/// Finds the addresses of the host names among a peer's candidates.
///
/// Names under `.local` are asked for by multicast (RFC 6762): browsers hide their addresses behind them. Others go to
/// the machine's resolver; whoever does not want that hands none over. A name that nobody knows is no error: the peer's
/// own checks may still reach this side.
struct HostNameResolver: Sendable {
    let eventLoop: any EventLoop
    let logger: Logger
    /// Asks for one name: the machine's resolver, or in a test whoever stands for it.
    var lookUp: @Sendable (_ name: String) async -> [IPAddress] = HostNameResolver.systemAddresses(of:)

    /// The most names that the machine's resolver is asked for: a description can hold thousands.
    static let maximumNames = 16

    /// Yields each address as it is found, and finishes when there is nobody left to wait for.
    func resolve(_ names: Set<String>) -> AsyncStream<(name: String, address: IPAddress)> {
        AsyncStream { continuation in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    // By what is asked for, the names as they were written.
                    let namesByQuery = Dictionary(grouping: names) { MulticastDNSName($0)?.description }
                    for name in namesByQuery[nil, default: []].sorted().prefix(Self.maximumNames) {
                        group.addTask {
                            for address in await lookUp(name) { continuation.yield((name, address)) }
                        }
                    }
                    let asked = Set(namesByQuery.keys.compactMap { $0 })
                    if !asked.isEmpty {
                        group.addTask {
                            await MulticastDNSClient(eventLoop: eventLoop, logger: logger).resolve(asked) {
                                for name in namesByQuery[$0, default: []] { continuation.yield((name, $1)) }
                            }
                        }
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The threads that wait for the machine's resolver, for peers' names; and for servers' names, which peers' don't delay.
    private static let threads = startThreads()
    private static let serverThreads = startThreads()
    /// How long an answer is waited for. The resolver itself can take minutes where several name servers are silent.
    private static let patience = TimeAmount.seconds(15)

    /// The addresses that the machine's resolver finds for a peer's name; empty where it finds none in time.
    static func systemAddresses(of name: String) async -> [IPAddress] {
        await answer(on: threads) { blockingAddresses(of: name) } ?? []
    }

    /// The same for a server's name; nil where no name server answers.
    static func systemAddresses(ofServer name: String) async -> [IPAddress]? {
        await answer(on: serverThreads) { blockingAddresses(of: name) }
    }

    private static func startThreads() -> NIOThreadPool {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }

    private static func answer(
        on threads: NIOThreadPool, _ body: @escaping @Sendable () -> [IPAddress]?
    ) async -> [IPAddress]? {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = eventLoop.makePromise(of: [IPAddress]?.self)
        threads.runIfActive(eventLoop: eventLoop, body).cascade(to: promise)
        let timer = eventLoop.scheduleTask(in: patience) { promise.succeed(nil) }
        defer { timer.cancel() }
        return (try? await promise.futureResult.get()) ?? nil
    }

    private static func blockingAddresses(of name: String) -> [IPAddress]? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else { return code == EAI_AGAIN ? nil : [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
            entry.flatMap { numericAddress(of: $0.pointee) }
        }
    }

    private static func numericAddress(of entry: addrinfo) -> IPAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return IPAddress(name.prefix { $0 != "%" })
    }
}
