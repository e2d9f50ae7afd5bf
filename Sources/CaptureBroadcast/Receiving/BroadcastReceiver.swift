internal import Glibc
import RTCShareCapture
import RTCShareMedia

/// The work of the thread of a ``BroadcastSource``: admits capturing processes, one at a time, and passes their frames
/// and audio on.
///
///     listening sockets ─▶ token? ─▶ hello? ─▶ the capturing process ─▶ newest frame ─▶ sinks, on demand
///
/// A client whose bytes are malformed is disconnected; the others are not affected.
final class BroadcastReceiver {
    /// A connection.
    private final class Client {
        let socket: BroadcastSocket
        let reader = BroadcastReader()
        /// The deadline of the handshake.
        let deadline: Duration
        /// Whether its token was the expected one.
        var isAuthenticated = false
        /// The transport of its frames, after it was admitted.
        var transport: BroadcastTransport?
        var memory: FrameMemoryReader?

        init(socket: BroadcastSocket, deadline: Duration) {
            self.socket = socket
            self.deadline = deadline
        }
    }

    /// The timeout for a client's handshake.
    private static let patience = Duration.seconds(5)
    /// The maximum number of clients in the handshake.
    private static let mostStrangers = 8
    /// The maximum number of clients that are accepted before the existing ones are read: a client that sends its token
    /// at once is authenticated before others can displace it.
    private static let mostAdmissions = mostStrangers / 2
    /// The time without accepting clients when the system has no descriptors left.
    private static let admissionPause = Duration.milliseconds(200)
    /// The maximum number of reads of one client before the others are served.
    private static let mostReads = 64
    /// The intervals at which demand is polled: while an encoder is busy, and, after this many polls, when there is no
    /// demand.
    private static let (shortWait, longWait) = (Duration.milliseconds(4), Duration.milliseconds(100))
    private static let mostShortWaits = 25
    /// The time for which the slate is shown before the share is shown as paused: the slate is sharp then.
    private static let slateTime = Duration.milliseconds(1500)
    /// The maximum age of a frame by its own timestamp.
    private static let oldest = Duration.seconds(5)

    private let listener: BroadcastListener
    private let tokens: BroadcastTokens
    private let wake: WakeEvent
    private let broadcaster: VideoBroadcaster
    private let sound: BroadcastAudioSource
    private let microphone: BroadcastAudioSource
    private let observers: ObserverList<any BroadcastObserver>

    private var strangers: [Client] = []
    private var guest: Client?
    /// The newest frame.
    private var newest: VideoFrame?
    /// Its parts that no sink has received yet; nil if it was sent.
    private var ungiven: ChangedParts?
    /// Whether the shared memory has a frame that was not read yet.
    private var memoryHasNews = false
    private var waits = 0
    /// The current interruption.
    private var interruption: CaptureInterruption?
    /// The time at which the share is shown as paused.
    private var muteTime: Duration?
    /// The time until which no client is accepted.
    private var admissionTime: Duration?

    init(
        listener: BroadcastListener, tokens: BroadcastTokens, wake: WakeEvent, broadcaster: VideoBroadcaster,
        sound: BroadcastAudioSource, microphone: BroadcastAudioSource, observers: ObserverList<any BroadcastObserver>
    ) {
        (self.listener, self.tokens, self.wake) = (listener, tokens, wake)
        (self.broadcaster, self.sound, self.microphone) = (broadcaster, sound, microphone)
        self.observers = observers
    }

    /// Runs until the signal is raised, or the source of the capturing process has ended. Returns the error of that, if
    /// there was one.
    func run(until signal: StopSignal) -> (any Error)? {
        showSlate()
        var readiness = Readiness()
        while !signal.isRaised {
            readiness.removeAll()
            readiness.add(signal.descriptor)
            readiness.add(wake.descriptor)
            if admissionTime == nil {
                for descriptor in listener.descriptors { readiness.add(descriptor) }
            }
            for client in clients {
                readiness.add(client.socket.descriptor, forWriting: client.socket.isPending)
            }
            readiness.wait(until: nextDeadline)
            if readiness.isReady(wake.descriptor) { wake.clear() }
            for client in clients where readiness.isReady(client.socket.descriptor) {
                if let end = serve(client) { return finish(end) }
            }
            for descriptor in listener.descriptors where readiness.isReady(descriptor) { admit(at: descriptor) }
            passTime()
            give()
        }
        if let guest { try? guest.socket.send(BroadcastMessage.ended.encoded) }
        return nil
    }

    private var clients: [Client] { strangers + (guest.map { [$0] } ?? []) }

    private var nextDeadline: Duration? {
        var deadlines = strangers.map(\.deadline)
        if let muteTime { deadlines.append(muteTime) }
        if let admissionTime { deadlines.append(admissionTime) }
        if isWaitingForDemand {
            deadlines.append(monotonicNow() + (waits < Self.mostShortWaits ? Self.shortWait : Self.longWait))
        }
        return deadlines.min()
    }

    private func passTime() {
        let now = monotonicNow()
        strangers.removeAll { $0.deadline <= now }
        if let time = admissionTime, now >= time { admissionTime = nil }
        if let time = muteTime, now >= time {
            muteTime = nil
            broadcaster.isMuted = true
        }
    }

    // MARK: Capturing processes

    private func admit(at descriptor: Int32) {
        do {
            for _ in 0..<Self.mostAdmissions {
                guard let socket = try BroadcastListener.accept(at: descriptor) else { return }
                strangers.append(Client(socket: socket, deadline: monotonicNow() + Self.patience))
                guard strangers.count > Self.mostStrangers else { continue }
                // The client that has been silent the longest is disconnected, so that silent ones block nobody;
                // authenticated clients stay.
                if let silent = strangers.firstIndex(where: { !$0.isAuthenticated }) { strangers.remove(at: silent) }
            }
        } catch {
            // The socket remains readable while clients wait: without a pause this would be a busy loop.
            admissionTime = monotonicNow() + Self.admissionPause
        }
    }

    /// The end of a capturing process's source.
    private struct SourceEnd {
        let error: String?
    }

    /// Reads a client's messages. Returns the end of its source, if it has ended.
    private func serve(_ client: Client) -> SourceEnd? {
        do {
            // A client that has disconnected receives nothing more, but its messages from before count.
            try? client.socket.flush()
            for _ in 0..<Self.mostReads {
                var count = 0
                let event = try client.reader.read { target in
                    count = try client.socket.read(into: target)
                    return count
                }
                if count == 0 { return nil }
                if let event, let end = try handle(event, of: client) { return end }
                // It was disconnected.
                guard clients.contains(where: { $0 === client }) else { return nil }
            }
        } catch {
            let error = error as? BroadcastError ?? .internal("\(error)")
            let wasGuest = client === guest
            drop(client)
            // A client that has just disconnected has not made an error.
            if wasGuest {
                leave("the capturing process left (\(error.reason))")
            } else if !client.socket.isClosed {
                observers.forEach { $0.broadcastDidFail(error: error) }
            }
        }
        return nil
    }

    private func drop(_ client: Client) {
        strangers.removeAll { $0 === client }
        if guest === client { guest = nil }
    }

    private func handle(_ event: BroadcastReader.Event, of client: Client) throws -> SourceEnd? {
        switch event {
        case .token(let token):
            guard tokens.accepts(token) else {
                throw BroadcastError.auth("it showed another token than expected")
            }
            client.isAuthenticated = true
            try client.socket.send(tokens.greeting)
        case .picture(let description, let picture):
            take(
                VideoFrame(
                    buffer: picture, timestamp: description.timestamp, rotation: description.rotation,
                    damage: description.parts))
        case .message(let message): return try handle(message, of: client)
        }
        return nil
    }

    private func handle(_ message: BroadcastMessage, of client: Client) throws -> SourceEnd? {
        if case .hello(_, let transport) = message, client.transport == nil {
            return try welcome(client, transport)
        }
        guard client === guest else { throw BroadcastError.network("a message before the hello") }
        // Next to other waiting messages, the capturing process does not announce each frame in memory.
        defer { if client === guest, client.memory != nil { memoryHasNews = true } }
        switch message {
        case .memory:
            let descriptors = client.socket.takeDescriptors()
            guard descriptors.count == 1, client.transport == .sharedMemory else {
                for descriptor in descriptors { close(descriptor) }
                throw BroadcastError.network("memory without its descriptor, which needs a Unix domain socket")
            }
            // Mapped memory needs no descriptor.
            defer { close(descriptors[0]) }
            client.memory = try FrameMemoryReader(mapping: descriptors[0])
        case .written:
            guard client.memory != nil else { throw BroadcastError.network("a frame in memory that did not arrive") }
        case .sound(let frame): sound.receive(frame)
        case .voice(let frame): microphone.receive(frame)
        case .interrupted(let interruption): interrupt(interruption)
        case .resumed: resume()
        case .hint(let hint): broadcaster.contentHint = hint
        case .finished(let error):
            // Frames that arrived before are shown before.
            giveLast()
            return SourceEnd(error: error)
        case .hello, .picture, .welcome, .refused, .consumed, .ended:
            throw BroadcastError.network("the other process sent a message that only a receiver sends")
        }
        return nil
    }

    private func welcome(_ client: Client, _ transport: BroadcastTransport) throws -> SourceEnd? {
        // The previous process may be gone without having been noticed. Its messages from before are finite.
        while let guest, guest.socket.hasHungUp {
            if let end = serve(guest) { return end }
        }
        guard guest == nil else {
            try client.socket.send(
                BroadcastMessage.refused("another capturing process is connected").encoded)
            drop(client)
            throw BroadcastError.network("another capturing process is connected")
        }
        strangers.removeAll { $0 === client }
        client.transport = transport
        client.reader.takesPictures = transport == .tcp
        guest = client
        try client.socket.send(BroadcastMessage.welcome.encoded)
        observers.forEach { $0.broadcastDidStart(transport: transport) }
        return nil
    }

    private func finish(_ end: SourceEnd) -> (any Error)? {
        pauseSounds()
        observers.forEach { $0.broadcastDidFinish(reason: "the source of the capturing process ended") }
        return end.error.map { BroadcastError.network("the source of the capturing process ended (\($0))") }
    }

    // MARK: Interruptions

    private func showSlate() {
        interruption = .extensionUnavailable(reason: "no capturing process has connected yet")
        broadcaster.send(
            VideoFrame(
                buffer: Slate.picture("Waiting for the video", size: Slate.defaultSize),
                timestamp: monotonicNow()))
        muteTime = monotonicNow() + Self.slateTime
        if let interruption { broadcaster.observers.wasInterrupted(by: interruption) }
    }

    /// Handles the end of the connection to the capturing process.
    private func leave(_ reason: String) {
        ungiven = nil
        memoryHasNews = false
        pauseSounds()
        observers.forEach { $0.broadcastDidFinish(reason: reason) }
        interrupt(.extensionUnavailable(reason: reason))
    }

    private func pauseSounds() {
        sound.pause()
        microphone.pause()
    }

    private func interrupt(_ new: CaptureInterruption) {
        if let interruption { broadcaster.observers.interruptionDidEnd(interruption) }
        interruption = new
        muteTime = nil
        // A window beyond the screen still has video, also after another interruption.
        broadcaster.isMuted = new != .movedOffScreen
        broadcaster.observers.wasInterrupted(by: new)
    }

    private func resume() {
        muteTime = nil
        broadcaster.isMuted = false
        guard let ended = interruption else { return }
        interruption = nil
        broadcaster.observers.interruptionDidEnd(ended)
    }

    // MARK: Frames

    private func take(_ frame: VideoFrame) {
        let sizeBefore = newest?.size
        var changes = ungiven ?? .nothing
        changes.add(sizeBefore == frame.size ? ChangedParts(parts: frame.damage) : .everything)
        newest = frame
        ungiven = changes
        if sizeBefore != frame.size { broadcaster.observers.sizeDidChange(to: frame.size) }
    }

    private var isWaitingForDemand: Bool { (ungiven != nil || memoryHasNews) && broadcaster.hasSinks }

    /// Sends the newest frame if there is demand.
    private func give() {
        if ungiven != nil || memoryHasNews, case .extensionUnavailable? = interruption { resume() }
        let demand = broadcaster.demand
        guard demand > .nothing else {
            waits = isWaitingForDemand ? waits + 1 : 0
            return
        }
        waits = 0
        takeFromMemory()
        if ungiven != nil || demand == .picture { send() }
    }

    /// Sends the newest frame regardless of demand.
    private func giveLast() {
        takeFromMemory()
        if ungiven != nil { send() }
    }

    private func takeFromMemory() {
        guard memoryHasNews, let guest, let memory = guest.memory else { return }
        memoryHasNews = false
        do {
            if let frame = try memory.take() { take(frame) }
        } catch {
            drop(guest)
            leave("the capturing process left (\(error.reason))")
        }
    }

    private func send() {
        guard let newest else { return }
        let now = monotonicNow()
        let isPlausible = newest.timestamp <= now && newest.timestamp > now - Self.oldest
        let isNew = ungiven != nil
        broadcaster.send(
            VideoFrame(
                buffer: newest.buffer, timestamp: isNew && isPlausible ? newest.timestamp : now,
                rotation: newest.rotation,
                damage: ungiven.map(\.parts) ?? []))
        ungiven = nil
        // One frame is under way at a time: now the next may be sent.
        if isNew, let guest, guest.transport == .tcp { try? guest.socket.send(BroadcastMessage.consumed.encoded) }
    }
}
