internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RTCShareICE
internal import RTCShareWireFormat

/// Resolves the host names among a peer's candidates.
///
/// Names under `.local` are resolved by multicast (RFC 6762): browsers hide their addresses behind them. Others go to
/// the machine's resolver, if the program permits that. An unknown name is not an error: the peer's own checks may
/// still reach this side.
struct HostNameResolver: Sendable {
    let eventLoop: any EventLoop
    let logger: Logger
    /// Resolves one name: by the machine's resolver or, in a test, its replacement.
    var lookUp: @Sendable (_ name: String) async -> [IPAddress] = HostNameResolver.systemAddresses(of:)

    /// The maximum number of names for the machine's resolver: a description can contain thousands.
    static let maximumNames = 16

    /// Yields each address as it is found, and finishes after all answers and timeouts.
    func resolve(_ names: Set<String>) -> AsyncStream<(name: String, address: IPAddress)> {
        AsyncStream { continuation in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    // The original names by their query.
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

    /// The threads that wait for the machine's resolver, for peers' names and, below, for servers' names, which peers'
    /// names must not delay.
    private static let threads = startThreads()
    private static let serverThreads = startThreads()
    /// The timeout for an answer. The resolver itself can take minutes if several name servers do not answer.
    private static let patience = TimeAmount.seconds(15)

    /// Returns the addresses that the machine's resolver finds for a peer's name; empty if it finds none in time.
    static func systemAddresses(of name: String) async -> [IPAddress] {
        await answer(on: threads) { blockingAddresses(of: name) } ?? []
    }

    /// Returns the addresses of a server's name; nil if no name server answers.
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
