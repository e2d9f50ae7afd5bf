internal import Glibc
import RTCShareCapture
import RTCShareMedia

/// What the thread of a ``BroadcastSource`` does: lets extensions in, one at a time, and gives on what comes.
///
///     listening sockets ─▶ token? ─▶ hello? ─▶ the extension ─▶ newest picture ─▶ sinks, once they have a use for it
///
/// A client whose bytes are malformed is disconnected; the others are not affected.
final class BroadcastReceiver {
    /// Somebody who has connected.
    private final class Client {
        let socket: BroadcastSocket
        let reader = BroadcastReader()
        /// Until when the handshake has to be done.
        let deadline: Duration
        /// Whether its token was the one expected.
        var isAuthenticated = false
        /// How its pictures come, once it was let in.
        var transport: BroadcastTransport?
        var memory: FrameMemoryReader?

        init(socket: BroadcastSocket, deadline: Duration) {
            self.socket = socket
            self.deadline = deadline
        }
    }

    /// How long a client may take to be known.
    private static let patience = Duration.seconds(5)
    /// More do not wait to be known at a time.
    private static let mostStrangers = 8
    /// More are not let in before those who are there were asked what they say: who says its token at once is known
    /// before others can put it out.
    private static let mostAdmissions = mostStrangers / 2
    /// How long nobody is let in where the system has no descriptors left.
    private static let admissionPause = Duration.milliseconds(200)
    /// How much is read of one client before others have their turn.
    private static let mostReads = 64
    /// How soon it is asked again whether a picture is of use: while an encoder is busy, and after so many times when
    /// nobody looks on.
    private static let (shortWait, longWait) = (Duration.milliseconds(4), Duration.milliseconds(100))
    private static let mostShortWaits = 25
    /// How long the picture that says that nobody came is shown before the share is shown as paused: it is sharp then.
    private static let slateTime = Duration.milliseconds(1500)
    /// How old a picture may say that it is.
    private static let oldest = Duration.seconds(5)

    private let listener: BroadcastListener
    private let tokens: BroadcastTokens
    private let wake: WakeEvent
    private let broadcaster: VideoBroadcaster
    private let sound: BroadcastSound
    private let microphone: BroadcastSound
    private let observers: ObserverList<any BroadcastObserver>

    private var strangers: [Client] = []
    private var guest: Client?
    /// The newest picture that has come.
    private var newest: VideoFrame?
    /// What of it no sink was given yet; nil where it was given.
    private var ungiven: ChangedParts?
    /// The extension's memory has a picture that was not taken yet.
    private var memoryHasNews = false
    private var waits = 0
    /// Why nothing is shown.
    private var interruption: CaptureInterruption?
    /// When the share is to be shown as paused.
    private var muteTime: Duration?
    /// Until when nobody is let in.
    private var admissionTime: Duration?

    init(
        listener: BroadcastListener, tokens: BroadcastTokens, wake: WakeEvent, broadcaster: VideoBroadcaster,
        sound: BroadcastSound, microphone: BroadcastSound, observers: ObserverList<any BroadcastObserver>
    ) {
        (self.listener, self.tokens, self.wake) = (listener, tokens, wake)
        (self.broadcaster, self.sound, self.microphone) = (broadcaster, sound, microphone)
        self.observers = observers
    }

    /// Runs until the signal is raised, or the extension's source has ended: then with its error, if there was one.
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

    // MARK: Extensions

    private func admit(at descriptor: Int32) {
        do {
            for _ in 0..<Self.mostAdmissions {
                guard let socket = try BroadcastListener.accept(at: descriptor) else { return }
                strangers.append(Client(socket: socket, deadline: monotonicNow() + Self.patience))
                guard strangers.count > Self.mostStrangers else { continue }
                // Who has been silent for longest goes, so that silence keeps nobody out; who has shown its token stays.
                if let silent = strangers.firstIndex(where: { !$0.isAuthenticated }) { strangers.remove(at: silent) }
            }
        } catch {
            // Whoever waits stays ready: without a pause we would ask again and again.
            admissionTime = monotonicNow() + Self.admissionPause
        }
    }

    /// How an extension has ended its source.
    private struct SourceEnd {
        let error: String?
    }

    /// Reads what a client says; returns how its source has ended, where it has.
    private func serve(_ client: Client) -> SourceEnd? {
        do {
            // One who has left hears nothing more, but what it said before that counts.
            try? client.socket.flush()
            for _ in 0..<Self.mostReads {
                var count = 0
                let event = try client.reader.read { target in
                    count = try client.socket.read(into: target)
                    return count
                }
                if count == 0 { return nil }
                if let event, let end = try handle(event, of: client) { return end }
                // It was let go.
                guard clients.contains(where: { $0 === client }) else { return nil }
            }
        } catch {
            let error = error as? BroadcastError ?? .internal("\(error)")
            let wasGuest = client === guest
            drop(client)
            // Who has just left did nothing that can't be.
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
        // Beside other messages that wait, an extension does not say that a picture was written.
        defer { if client === guest, client.memory != nil { memoryHasNews = true } }
        switch message {
        case .memory:
            let descriptors = client.socket.takeDescriptors()
            guard descriptors.count == 1, client.transport == .sharedMemory else {
                for descriptor in descriptors { close(descriptor) }
                throw BroadcastError.network("memory without its descriptor, which needs a Unix domain socket")
            }
            // What is mapped needs no descriptor.
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
            // Pictures that came before are seen before.
            giveLast()
            return SourceEnd(error: error)
        case .hello, .picture, .welcome, .refused, .consumed, .ended:
            throw BroadcastError.network("the other process sent a message that only a receiver sends")
        }
        return nil
    }

    private func welcome(_ client: Client, _ transport: BroadcastTransport) throws -> SourceEnd? {
        // The one that was there may be gone without our having seen it. What it said before that has an end.
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
        interruption = .extensionAway(reason: "no capturing process has connected yet")
        broadcaster.send(
            VideoFrame(
                buffer: Slate.picture("Waiting for the video", size: Slate.defaultSize),
                timestamp: monotonicNow()))
        muteTime = monotonicNow() + Self.slateTime
        if let interruption { broadcaster.observers.wasInterrupted(by: interruption) }
    }

    /// The extension is gone.
    private func leave(_ reason: String) {
        ungiven = nil
        memoryHasNews = false
        pauseSounds()
        observers.forEach { $0.broadcastDidFinish(reason: reason) }
        interrupt(.extensionAway(reason: reason))
    }

    private func pauseSounds() {
        sound.pause()
        microphone.pause()
    }

    private func interrupt(_ new: CaptureInterruption) {
        if let interruption { broadcaster.observers.interruptionDidEnd(interruption) }
        interruption = new
        // What lies beyond the screen still has a picture.
        if new != .movedOffScreen {
            muteTime = nil
            broadcaster.isMuted = true
        }
        broadcaster.observers.wasInterrupted(by: new)
    }

    private func resume() {
        muteTime = nil
        broadcaster.isMuted = false
        guard let ended = interruption else { return }
        interruption = nil
        broadcaster.observers.interruptionDidEnd(ended)
    }

    // MARK: Pictures

    private func take(_ frame: VideoFrame) {
        let sizeBefore = newest?.size
        var changes = ungiven ?? .nothing
        changes.add(sizeBefore == frame.size ? ChangedParts(parts: frame.damage) : .everything)
        newest = frame
        ungiven = changes
        if sizeBefore != frame.size { broadcaster.observers.sizeDidChange(to: frame.size) }
    }

    private var isWaitingForDemand: Bool { (ungiven != nil || memoryHasNews) && broadcaster.hasSinks }

    /// Gives the newest picture where sinks have a use for it.
    private func give() {
        if ungiven != nil || memoryHasNews, case .extensionAway? = interruption { resume() }
        let demand = broadcaster.demand
        guard demand > .nothing else {
            waits = isWaitingForDemand ? waits + 1 : 0
            return
        }
        waits = 0
        takeFromMemory()
        if ungiven != nil || demand == .picture { send() }
    }

    /// Gives what has come, whether there is a use for it or not.
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
        // One is under way at a time: now the next may come.
        if isNew, let guest, guest.transport == .tcp { try? guest.socket.send(BroadcastMessage.consumed.encoded) }
    }
}
