public import Logging
package import NIOCore
public import NIOPosix
public import RTCShareICE
public import RTCSharePeerConnection
package import RTCShareRTP
package import RTCShareSDP
public import RTCShareWireFormat

/// A peer connection on a network: its sockets, its timer and its clock.
///
/// A connection belongs to one event loop, which is this actor's executor: received data is handled where it arrives,
/// without a thread switch, and nothing is shared. Frames come from the encoder's thread through `send(_:media:)`.
public actor Connection {
    /// The addresses and limits of a connection.
    public struct Configuration: Sendable {
        /// The addresses to listen at; empty for every usable one of this machine.
        public var addresses: [IPAddress] = []
        /// The port to listen at, on each address; 0 lets the system choose.
        public var port: UInt16 = 0
        /// The public addresses of this machine that a router forwards port for port (1:1 NAT). The peer receives them
        /// in addition to the machine's own.
        public var publicAddresses: [IPAddress] = []
        /// The servers that ``gather(patience:)`` asks for the public address of this machine, and for relayed
        /// addresses.
        public var iceServers: [ICEServer] = []
        /// The roots of trust for the certificates of servers behind `turns:` URLs.
        public var trustRoots: TrustRoots = .system
        /// The permitted kinds of candidates.
        public var iceTransportPolicy: ICETransportPolicy {
            get { peer.iceTransportPolicy }
            set { peer.iceTransportPolicy = newValue }
        }
        /// Whether host names among the peer's candidates are looked up in DNS, and not only those under `.local` on
        /// the local network. A lookup reveals this machine to the name's owner. If only relays are permitted, no name
        /// is looked up.
        public var resolvesHostNames: Bool {
            get { peer.resolvesHostNames }
            set { peer.resolvesHostNames = newValue }
        }
        /// The maximum total bitrate of video, audio, retransmissions and headers.
        public var maxBitrate: DataRate {
            get { peer.maximumBitrate }
            set { peer.maximumBitrate = newValue }
        }
        /// The assumed bitrate of the route before it is measured.
        public var startBitrate: DataRate {
            get { peer.startBitrate }
            set { peer.startBitrate = newValue }
        }
        /// The number of layers of a simulcast with which an offer sends the video of content, one to three (RFC
        /// 8853). A server forwards to each viewer the one that the viewer's network carries. Further layers of a screen
        /// have less bitrate and fewer frames, those of motion less bitrate and fewer pixels. If the peer accepts no
        /// simulcast, a single stream is sent.
        public var contentLayers: Int {
            get { peer.contentLayers }
            set { peer.contentLayers = min(max(newValue, 1), 3) }
        }
        /// The payload formats of video, in order of preference.
        package var videoFormats: [any VideoPayloadFormat] {
            get { peer.videoFormats }
            set { peer.videoFormats = newValue }
        }
        /// The timeout for the connection to the peer.
        public var connectTimeout: Duration {
            get { peer.connectTimeout }
            set { peer.connectTimeout = newValue }
        }
        /// The time to wait for an ICE restart after nothing can be sent any more, before the connection fails. Some 30
        /// seconds are adequate if descriptions can still be exchanged. The default is zero, for programs that can't.
        public var restartTimeout: Duration {
            get { peer.restartPatience }
            set { peer.restartPatience = newValue }
        }
        /// Whether candidates are exchanged with the peer one by one (RFC 8838), if the peer supports that, too.
        public var usesTrickleICE: Bool {
            get { peer.trickles }
            set { peer.trickles = newValue }
        }
        /// Whether the DTLS state of OpenSSL is released after the first media of the peer. It saves some 40 kilobytes
        /// per connection, for programs with hundreds.
        public var releasesHandshake: Bool {
            get { peer.releasesHandshake }
            set { peer.releasesHandshake = newValue }
        }
        /// A port that is shared with other connections, which then determines the addresses and the port.
        public var sharedPort: SharedPort?
        /// Whether peers can open TCP connections to this side (RFC 6544), for networks that drop UDP. A connection with
        /// a ``sharedPort`` accepts them where that port's owner listens.
        public var acceptsTCP = false
        /// Whether addresses that the machine gets later are used too, if ``addresses`` is empty.
        public var followsInterfaces = true
        /// The event loops, one of which the connection uses; nil for SwiftNIO's event loops of the whole process. They
        /// belong to the program, which shuts them down after closing its connections. With a ``sharedPort`` the
        /// connection uses the port's event loop.
        public var eventLoopGroup: MultiThreadedEventLoopGroup?
        /// The logger of the connection's events.
        public var logger = Logger(label: "rtcshare.connection")
        /// The lookup of servers' names.
        var serverNames = ServerNames.system
        /// The configuration of the peer connection.
        package var peer = PeerConnection.Configuration()

        /// Creates a configuration of every usable address, with ports that the system chooses.
        public init() {}
    }

    /// The connection's states and the other events for its session, in order, until the connection is over. There must
    /// be one reader; of states that were not read in time, only the newest is kept.
    package nonisolated let signals: PendingEvents<ConnectionSignal>.Stream

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    package nonisolated let eventLoop: any EventLoop
    private nonisolated let pendingSignals = PendingEvents<ConnectionSignal>()
    package nonisolated let logger: Logger
    let configuration: Configuration
    var peer: PeerConnection
    let sockets: ConnectionSockets
    private var monitor: InterfaceMonitor?
    /// The STUN and TURN servers.
    var servers = ServerLookups()
    /// The addresses that this machine had and lost.
    var lostAddresses: Set<IPAddress> = []
    /// The server-reflexive candidates of this side that the peer has received, possibly from another process.
    var offeredReflexive: [ConnectivityFacts.Candidate] = []
    /// The offer that ``offer()`` made last, until it is answered or taken back.
    package var pendingOffer: SessionDescription?
    var isGathering = false
    /// The callers that wait in ``waitForServers(patience:)``, in the order of their calls.
    var gatherWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var gatherWaiterCount = 0
    /// The state shared with the other connections of its event loop.
    private(set) lazy var loop = ConnectionLoop.of(eventLoop)
    /// The timer.
    private var entry: ConnectionLoop.Entry?
    private(set) var isClosed = false
    /// Whether it was closed by this side or the peer, or failed.
    var isOver = false
    /// Whether media could flow at least once.
    var hasConnected = false
    /// The senders that use it, by the indices of their media.
    var senders: [Int: SenderReference] = [:]
    /// The consumer of the peer's media; nil until there is one.
    var consumer: (any MediaConsumer)?
    /// The names of the peer's candidates that are being resolved.
    var resolutions = NameResolutions()
    /// The callers that wait in ``drainQueue()``.
    private var queueWaiters: [CheckedContinuation<Void, Never>] = []

    /// The maximum time in which the pacer sends everything that waits.
    private static let longestQueue = TimeAmount.seconds(2)
    /// The interval at which a stream without room is checked again.
    private static let fullnessInterval = Duration.milliseconds(5)

    /// Creates a connection and opens its sockets, as ``open(_:)`` does.
    package init(
        as part: PeerConnection.Part, identity: LocalIdentity, configuration: Configuration = Configuration(),
        endpoints: [TransportAddress]? = nil
    ) async throws {
        try self.init(unopenedAs: part, identity: identity, configuration: configuration)
        try await open(endpoints)
    }

    /// Creates a connection without sockets.
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

    /// Opens the sockets of `endpoints`, or one for every address in the configuration. A connection that is closed,
    /// before or during that, opens none.
    package func open(_ endpoints: [TransportAddress]? = nil) async throws {
        guard !isClosed else { throw PeerConnectionError.ended }
        listenToSockets()
        entry = ConnectionLoop.Entry { [weak self] suspension, now in
            self?.assumeIsolated { $0.machineDidResume(after: suspension, now: now) }
        } wake: { [weak self] now in
            self?.assumeIsolated { $0.timerDidFire(now: now) }
        }
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
        findTranslation()
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
                    let local = try await sockets.open(at: endpoint)
                    peer.addLocalAddress(local, now: MonotonicClock.now)
                    try await listen(at: local)
                } catch let error as ConnectionError {
                    // An address may have been removed with its interface after it was listed: the others are tried.
                    guard case .addressUnusable = error else { throw error }
                    unusable = unusable ?? error
                    logger.info("\(error)")
                }
            }
            guard !isClosed else { throw PeerConnectionError.ended }
            if sockets.addresses.isEmpty { throw unusable ?? .noAddress }
        } catch {
            await close()
            throw error
        }
    }

    /// Releases the resources of a connection that was not closed by ``close()``.
    deinit {
        // The timer belongs to the event loop. It fires once more, and its weak reference is nil by then.
        resolutions.cancel()
        monitor?.stop()
        pendingSignals.finish()
    }

    // MARK: Descriptions

    /// The addresses of the sockets.
    public var localAddresses: [TransportAddress] {
        sockets.addresses.sorted { $0.description < $1.description }
    }

    /// Whether a STUN server reported an address that is not this machine's own.
    package var hasReflexiveCandidate: Bool { peer.hasReflexiveCandidate }

    /// The media that the peer sends, in the order of its description; the index is the receiver's in events.
    package var remoteMedia: [RemoteMedia] { peer.remoteMedia }

    /// The media that this side may send, in the order of the descriptions; the index is the media's in events.
    package var localMedia: [LocalMedia] { peer.localMedia }

    /// Whether a description of the peer was accepted.
    package var isNegotiated: Bool { peer.isNegotiated }

    // MARK: Media

    /// Sets the maximum bitrate of all media together, which replaces the configuration's. Any thread can call it.
    /// Higher rates are probed.
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

    /// Sets whether the next description requests a receiver's media, or declines it for now.
    package func setReceiving(_ isReceiving: Bool, receiver index: Int) {
        peer.setReceiving(isReceiving, receiver: index)
    }

    /// Requests a key frame of the peer, because the received frames can't be decoded. Any thread can call it.
    package nonisolated func requestKeyFrame(ofReceiver index: Int) {
        onEventLoop { $0.requestKeyFrame(ofReceiver: index, now: MonotonicClock.now) }
    }

    /// Checks the peer's consent, at most once a second; the state is ``ConnectionState/disconnected`` in two seconds if the peer does not
    /// answer.
    package func checkConsent() {
        peer.checkConsent(now: MonotonicClock.now)
        drain()
    }

    /// Returns a report of the counts of the connection, its sockets and its received media, as W3C's `getStats()`.
    public func stats() -> StatisticsReport {
        var report = peer.report(now: MonotonicClock.now)
        report.transport?.packetsDroppedByStreams = sockets.droppedMessages
        report.transport?.packetsRefusedBySystem = sockets.refusedDatagrams
        consumer?.add(to: &report)
        return report
    }

    /// The reason why the connection failed; nil if it did not.
    package var failure: PeerConnection.Failure? { peer.failure }

    /// The known facts about the candidate pairs.
    package var connectivityFacts: ConnectivityFacts {
        var facts = peer.connectivityFacts
        facts.add(offeredReflexive)
        return facts
    }

    /// The number of bytes that have arrived, and the time of this count.
    package var arrivals: (bytes: UInt64, time: Instant) { (peer.bytesReceived, MonotonicClock.now) }

    /// Returns each candidate pair with its fate, a line each.
    package func pairReports() -> [String] {
        peer.pairReports()
    }

    /// Waits until every queued packet has been sent, the connection is closed, or the maximum time of the pacer's
    /// queue has passed.
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

    /// Sends the goodbye (RTCP BYE, DTLS close_notify), and then closes the sockets.
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

    /// Sends all pending packets, reports events, and sets the timer. Called after every input.
    func drain(now: Instant = MonotonicClock.now) {
        guard !isClosed else { return }
        let loop = loop
        let batch = loop.batch
        loop.beginGathering()
        if let stream = peer.mediaStream { follow(stream, now: now) }
        while true {
            let memory = batch.reserve()
            guard let transmission = peer.pollTransmit(into: memory, now: now) else { break }
            let bytes = UnsafeRawBufferPointer(rebasing: memory[..<transmission.byteCount])
            let isSent = sockets.send(bytes, transmission, in: batch, now: now)
            if transmission.transport.isStream { followFullness() }
            guard !isSent else { continue }
            peer.transmitFailed(
                from: transmission.source, to: transmission.destination, over: transmission.transport, now: now)
        }
        sockets.flushDedicated()
        if !queueWaiters.isEmpty, !peer.hasQueuedPackets { resumeQueueWaiters() }
        passOnReceived()
        var hasRelayFailed = false
        while let event = peer.pollEvent() {
            guard notifySenders(event) else { continue }
            log(event)
            if case .serverFailed(let failure) = event, case .relay = failure.error { hasRelayFailed = true }
            consumer?.handle(event, from: self)
            if case .gatheringComplete = event { resumeGatherWaiters() }
            if let signal = ConnectionSignal(event, ufrag: peer.localUsernameFragment) { pendingSignals.append(signal) }
        }
        if let entry { loop.schedule(entry, at: nextDeadline(now: now)) }
        loop.endGathering()
        if hasRelayFailed { renewCredentials() }
    }

    private func nextDeadline(now: Instant) -> Instant {
        let deadline = peer.nextDeadline(now: now) ?? .distantFuture
        // Nothing reports that a stream with unsent bytes has room again.
        return peer.isStreamFull ? min(deadline, now.advanced(by: Self.fullnessInterval)) : deadline
    }

    /// Reports the progress of the stream that carries media.
    private func follow(_ stream: MediaPath, now: Instant) {
        peer.isStreamFull = sockets.isFull(stream)
        guard peer.isStreamReportDue(now: now), let progress = sockets.progress(of: stream) else { return }
        peer.handle(progress, now: now)
    }

    private func followFullness() {
        if let stream = peer.mediaStream { peer.isStreamFull = sockets.isFull(stream) }
    }

    private func log(_ event: PeerConnection.Event) {
        guard case .stateChanged(let state) = event else { return logger.debug("\(event)") }
        logger.debug("\(state.rawValue)\(failure.map { ": \($0)" } ?? "")")
    }

    private func machineDidResume(after suspension: Duration, now: Instant) {
        logger.info("this machine was suspended for \(suspension)")
        peer.wasSuspended(for: suspension, now: now)
        drain(now: now)
    }

    private func timerDidFire(now: Instant) {
        peer.handleTimeout(now: now)
        drain()
    }
}
