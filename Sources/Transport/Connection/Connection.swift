public import Logging
package import NIOCore
public import NIOPosix
public import RTCShareICE
public import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareSDP
public import RTCShareWireFormat

/// A peer connection on a network: its sockets, its timer and its clock.
///
/// All of it lives on one event loop, which is this actor's executor: what arrives is handled where it arrives, without
/// a hop, and nothing is shared. Frames come in from the encoder's thread through `send(_:media:)`.
public actor Connection {
    /// Where a connection listens, and how far it may go.
    public struct Configuration: Sendable {
        /// The addresses to listen at; empty for every usable one of this machine.
        public var addresses: [IPAddress] = []
        /// The port to listen at, on each address; 0 has the system pick.
        public var port: UInt16 = 0
        /// The addresses under which this machine is known outside, where a router forwards them port for port (1:1 NAT):
        /// told to the peer beside the machine's own.
        public var publicAddresses: [IPAddress] = []
        /// Servers that ``gather(patience:)`` asks: how this machine looks from outside, and for addresses to relay from.
        public var iceServers: [ICEServer] = []
        /// Whose certificates servers behind `turns:` URLs may have.
        public var trustRoots: TrustRoots = .system
        /// Which paths may be taken.
        public var iceTransportPolicy: ICETransportPolicy {
            get { peer.iceTransportPolicy }
            set { peer.iceTransportPolicy = newValue }
        }
        /// Whether host names among the peer's candidates are looked up in DNS, and not only those under `.local` on the
        /// local network. Whoever serves a name is told so who asks; where relays alone may be used, no name is looked up.
        public var resolvesHostNames: Bool {
            get { peer.resolvesHostNames }
            set { peer.resolvesHostNames = newValue }
        }
        /// The most that is sent: pictures, sound, retransmissions and headers together.
        public var maxBitrate: DataRate {
            get { peer.maximumBitrate }
            set { peer.maximumBitrate = newValue }
        }
        /// What the path is taken to carry until something is known of it.
        public var startBitrate: DataRate {
            get { peer.startBitrate }
            set { peer.startBitrate = newValue }
        }
        /// How long to look for a path to the peer before giving up.
        public var connectTimeout: Duration {
            get { peer.connectTimeout }
            set { peer.connectTimeout = newValue }
        }
        /// How long to wait for an ICE restart once nothing can be sent any more, before the connection fails: some 30
        /// seconds suit who has a way to exchange descriptions while it stands. Zero, the default, is for who has none.
        public var restartPatience: Duration {
            get { peer.restartPatience }
            set { peer.restartPatience = newValue }
        }
        /// Whether candidates are exchanged with the peer one by one (RFC 8838), where the peer does so too.
        public var trickles: Bool {
            get { peer.trickles }
            set { peer.trickles = newValue }
        }
        /// Whether OpenSSL's state of DTLS is let go once the peer's media have come: some 40 kilobytes a connection less,
        /// where one program has hundreds.
        public var releasesHandshake: Bool {
            get { peer.releasesHandshake }
            set { peer.releasesHandshake = newValue }
        }
        /// A port that is shared with other connections; addresses and port are then its own.
        public var sharedPort: SharedPort?
        /// Whether addresses that the machine gets later are used too, where ``addresses`` names none.
        public var followsInterfaces = true
        /// The event loops of which the connection lives on one; nil for those that SwiftNIO has for the whole process. They
        /// are the program's, which ends them when its connections are closed. With a ``sharedPort`` the connection lives
        /// where that does.
        public var eventLoopGroup: MultiThreadedEventLoopGroup?
        /// Where the connection says what happens to it.
        public var logger = Logger(label: "rtcshare.connection")
        /// Where servers' names are looked up.
        var serverNames = ServerNames.system
        /// What the peer connection goes by.
        package var peer = PeerConnection.Configuration()

        /// Every usable address, ports that the system picks.
        public init() {}
    }

    /// The states of the connection and what else its session must know, in order, until the connection is over. One
    /// reader; of what is a state and was not read in time, the newest is kept.
    package nonisolated let signals: AsyncStream<ConnectionSignal>

    /// The event loop: whoever calls this actor is taken there.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    package nonisolated let eventLoop: any EventLoop
    private nonisolated let pendingSignals = ConnectionEvents<ConnectionSignal>()
    package nonisolated let logger: Logger
    let configuration: Configuration
    var peer: PeerConnection
    let sockets: ConnectionSockets
    private var monitor: InterfaceMonitor?
    /// Servers that help to connect.
    var servers = ServerLookups()
    /// Addresses that this machine had and has no longer.
    var lostAddresses: Set<IPAddress> = []
    /// What the peer was told of how this side looks from outside, maybe by another process.
    var offeredReflexive: [ConnectivityFacts.Candidate] = []
    /// The offer that ``offer()`` made last, until it is answered or taken back.
    package var pendingOffer: SessionDescription?
    var isGathering = false
    /// The callers that wait in ``waitForServers(patience:)``, by the order of their calls.
    var gatherWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var gatherWaiterCount = 0
    /// What it shares with the other connections of its event loop.
    private(set) lazy var loop = ConnectionLoop.of(eventLoop)
    /// Its timer.
    private var entry: ConnectionLoop.Entry?
    private(set) var isClosed = false
    /// Whether it was closed by this side or the peer, or failed.
    var isOver = false
    /// Whether media could flow once.
    var hasConnected = false
    /// The senders that use it, by the indices of their media.
    var senders: [Int: SenderReference] = [:]
    /// Takes what the peer sends; nil until there is one.
    var consumer: (any MediaConsumer)?
    /// The names of the peer's candidates that are being resolved.
    var resolutions = NameResolutions()
    /// Those who wait in ``drainQueue()``.
    private var queueWaiters: [CheckedContinuation<Void, Never>] = []

    /// The time in which the pacer lets everything go that waits.
    private static let longestQueue = TimeAmount.seconds(2)

    /// Makes a connection and opens its sockets, as ``open(_:)`` does.
    package init(
        as part: PeerConnection.Part, identity: LocalIdentity, configuration: Configuration = Configuration(),
        endpoints: [TransportAddress]? = nil
    ) async throws {
        try self.init(unopenedAs: part, identity: identity, configuration: configuration)
        try await open(endpoints)
    }

    /// Makes a connection without sockets.
    package init(
        unopenedAs part: PeerConnection.Part, identity: LocalIdentity, configuration: Configuration = Configuration()
    ) throws {
        eventLoop = configuration.sharedPort?.eventLoop ?? (configuration.eventLoopGroup ?? .singleton).next()
        signals = pendingSignals.stream
        logger = configuration.logger
        self.configuration = configuration
        var peerConfiguration = configuration.peer
        peerConfiguration.unixTimeAtZero = MonotonicClock.unixTimeAtZero
        peerConfiguration.relaysHaveOwnPorts = configuration.sharedPort != nil
        peer = try PeerConnection(
            as: part, identity: identity, configuration: peerConfiguration, random: SystemRandomNumberGenerator())
        sockets = ConnectionSockets(on: eventLoop)
    }

    /// Opens the sockets that `endpoints` name, or one of every address in the configuration. A connection that is closed, by
    /// then or while they are opened, has none.
    package func open(_ endpoints: [TransportAddress]? = nil) async throws {
        guard !isClosed else { throw PeerConnectionError.ended }
        listenToSockets()
        entry = ConnectionLoop.Entry { [weak self] now in self?.assumeIsolated { $0.timerDidFire(now: now) } }
        if let sharedPort = configuration.sharedPort {
            joinSharedPort(sharedPort)
        } else {
            do {
                try await openSockets(at: try endpoints ?? Self.endpoints(for: configuration))
            } catch ConnectionError.addressUnusable(let address, let reason) where endpoints != nil {
                throw ConnectionError.addressUnusable(
                    address, reason: "\(reason) (if the network changed since the offer, make a new offer)")
            }
            let isFree = configuration.followsInterfaces && configuration.addresses.isEmpty && endpoints == nil
            await monitorInterfaces(addsNew: isFree)
            guard !isClosed else {
                monitor?.stop()
                throw PeerConnectionError.ended
            }
        }
        for address in configuration.publicAddresses { peer.addPublicAddress(address, now: MonotonicClock.now) }
    }

    private func monitorInterfaces(addsNew: Bool) async {
        monitor = await InterfaceMonitor.start(on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.interfacesDidChange(addsNew: addsNew) }
        }
    }

    private static func endpoints(for configuration: Configuration) throws -> [TransportAddress] {
        let addresses =
            configuration.addresses.isEmpty ? try NetworkInterfaces.usableAddresses() : configuration.addresses
        guard !addresses.isEmpty else { throw ConnectionError.noAddress }
        return addresses.map { TransportAddress(ip: $0, port: configuration.port) }
    }

    private func openSockets(at endpoints: [TransportAddress]) async throws {
        var unusable: ConnectionError?
        do {
            for endpoint in endpoints {
                do {
                    peer.addLocalAddress(try await sockets.open(at: endpoint), now: MonotonicClock.now)
                } catch let error as ConnectionError {
                    // An address may have gone since it was listed, with its interface: the others are worth a try.
                    guard case .addressUnusable = error else { throw error }
                    unusable = unusable ?? error
                    logger.info("\(error)")
                }
            }
            if sockets.addresses.isEmpty { throw unusable ?? .noAddress }
        } catch {
            await close()
            throw error
        }
    }

    /// Releases what a connection holds that was let go of without ``close()``.
    deinit {
        // The timer is the event loop's. It fires once more, and its weak reference is nil by then.
        resolutions.cancel()
        monitor?.stop()
        pendingSignals.finish()
    }

    // MARK: Descriptions

    /// The addresses that the sockets have.
    public var localAddresses: [TransportAddress] {
        sockets.addresses.sorted { $0.description < $1.description }
    }

    /// Whether a STUN server told of an address that is not this machine's own.
    package var hasReflexiveCandidate: Bool { peer.hasReflexiveCandidate }

    /// What the peer sends, as its description names it; the index is the receiver's in events.
    package var remoteMedia: [RemoteMedia] { peer.remoteMedia }

    /// What this side may send, in the order of the descriptions; the index is the media's in events.
    package var localMedia: [LocalMedia] { peer.localMedia }

    /// Whether a description of the peer's was accepted.
    package var isNegotiated: Bool { peer.isNegotiated }

    // MARK: Media

    /// Sets the most that all media together may take, in place of what the configuration says; from any thread. Higher
    /// rates are probed for.
    package nonisolated func setMaximumBitrate(_ rate: DataRate) {
        onEventLoop { $0.setMaximumBitrate(rate, now: MonotonicClock.now) }
    }

    nonisolated func onEventLoop(_ body: @escaping @Sendable (inout PeerConnection) -> Void) {
        eventLoop.execute {
            self.assumeIsolated {
                body(&$0.peer)
                $0.drain()
            }
        }
    }

    /// Has the next description ask for what a receiver gets, or decline it for now.
    package func setReceiving(_ isReceiving: Bool, receiver index: Int) {
        peer.setReceiving(isReceiving, receiver: index)
    }

    /// Requests a key frame of the peer, because what arrived can't be decoded; from any thread.
    package nonisolated func requestKeyFrame(ofReceiver index: Int) {
        onEventLoop { $0.requestKeyFrame(ofReceiver: index, now: MonotonicClock.now) }
    }

    /// Asks the peer now whether it still consents to be sent to; the state is ``ConnectionState/disconnected`` in two
    /// seconds if the peer does not answer.
    package func checkConsent() {
        peer.checkConsent(now: MonotonicClock.now)
        drain()
    }

    /// A report of the counts of the connection, of its sockets and of what it receives, as W3C's `getStats()` gives it.
    public func stats() -> StatisticsReport {
        var report = peer.report(now: MonotonicClock.now)
        report.transport?.packetsDroppedByStreams = sockets.droppedMessages
        report.transport?.packetsRefusedBySystem = sockets.refusedDatagrams
        consumer?.add(to: &report)
        return report
    }

    /// Why the connection failed; nil if it did not.
    package var failure: PeerConnection.Failure? { peer.failure }

    /// What is known of the paths to the peer.
    package var connectivityFacts: ConnectivityFacts {
        var facts = peer.connectivityFacts
        facts.add(offeredReflexive)
        return facts
    }

    /// Each pair of addresses and what became of it, a line each.
    package func pairReports() -> [String] {
        peer.pairReports()
    }

    /// Returns when every packet that was queued has left, the connection is closed, or it takes longer than the pacer's
    /// longest queue.
    package func drainQueue() async {
        guard peer.hasQueuedPackets, !isClosed else { return }
        await withCheckedContinuation { waitForQueue($0) }
    }

    private func waitForQueue(_ waiter: CheckedContinuation<Void, Never>) {
        queueWaiters.append(waiter)
        eventLoop.assumeIsolated().scheduleTask(in: Self.longestQueue) { [weak self] in
            self?.assumeIsolated { $0.resumeQueueWaiters() }
        }
    }

    private func resumeQueueWaiters() {
        for waiter in queueWaiters { waiter.resume() }
        queueWaiters = []
    }

    /// Says goodbye (RTCP BYE, DTLS close_notify), and closes the sockets once that has left.
    public func close() async {
        guard !isClosed else { return }
        peer.close(now: MonotonicClock.now)
        drain()
        isClosed = true
        resolutions.cancel()
        if let entry { loop.schedule(entry, at: .distantFuture) }
        monitor?.stop()
        monitor = nil
        resumeQueueWaiters()
        resumeGatherWaiters()
        end()
        await sockets.close()
        pendingSignals.finish()
    }

    // MARK: Time

    /// Sends what there is to send, tells what happened, and sets the timer: after every input, whatever it was.
    func drain(now: Instant = MonotonicClock.now) {
        guard !isClosed else { return }
        let loop = loop
        let batch = loop.batch
        loop.beginGathering()
        while true {
            let memory = batch.reserve()
            guard let transmission = peer.pollTransmit(into: memory, now: now) else { break }
            let bytes = UnsafeRawBufferPointer(rebasing: memory[..<transmission.byteCount])
            guard !sockets.send(bytes, transmission, in: batch, now: now) else { continue }
            peer.transmitFailed(
                from: transmission.source, to: transmission.destination, over: transmission.transport, now: now)
        }
        sockets.flushDedicated()
        if !queueWaiters.isEmpty, !peer.hasQueuedPackets { resumeQueueWaiters() }
        passOnReceived()
        while let event = peer.pollEvent() {
            guard notifySenders(event) else { continue }
            log(event)
            consumer?.handle(event, from: self)
            if case .gatheringComplete = event { resumeGatherWaiters() }
            if let signal = ConnectionSignal(event) { pendingSignals.append(signal) }
        }
        if let entry { loop.schedule(entry, at: peer.nextDeadline(now: now) ?? .distantFuture) }
        loop.endGathering()
    }

    private func log(_ event: PeerConnection.Event) {
        guard case .stateChanged(let state) = event else { return logger.debug("\(event)") }
        logger.debug("\(state.rawValue)\(failure.map { ": \($0)" } ?? "")")
    }

    private func timerDidFire(now: Instant) {
        peer.handleTimeout(now: now)
        drain()
    }
}
