internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareCapture
import RTCShareMedia

/// The work of the thread of a ``BroadcastSender``: connects to the sharing process, and sends the waiting content.
final class BroadcastSending {
    private static let (firstPause, longestPause) = (Duration.milliseconds(100), Duration.seconds(1))
    /// The number of consecutive disconnections after the token that count as its rejection.
    private static let mostRejections = 3
    /// The time to wait for room in shared memory.
    private static let memoryWait = Duration.milliseconds(5)
    /// The timeout for accepting a connection, and then for the admission.
    private static let patience = Duration.seconds(5)
    static let tokenCheck =
        "give both processes the same two tokens: the token of each is the peer token of the other"
    /// The timeout for sending the end of the source.
    private static let lastWait = Duration.seconds(2)

    private let endpoint: BroadcastEndpoint
    private let tokens: BroadcastTokens
    private let transport: BroadcastTransport
    private let environment: [String: String]
    private let inbox: BroadcastInbox
    private let observers: ObserverList<any BroadcastSenderObserver>

    init(
        endpoint: BroadcastEndpoint, tokens: BroadcastTokens, transport: BroadcastTransport,
        environment: [String: String], inbox: BroadcastInbox, observers: ObserverList<any BroadcastSenderObserver>
    ) {
        (self.endpoint, self.tokens, self.transport) = (endpoint, tokens, transport)
        (self.environment, self.inbox, self.observers) = (environment, inbox, observers)
    }

    /// The reason for the end of a connection.
    private enum Ending {
        /// Nothing is left to do: the share or the source has ended, or the signal was raised.
        case done
        /// The sharing process is gone, with the reason.
        case lost(String)
        /// The sharing process disconnected after it had received the token.
        case rejected
    }

    /// Runs until the signal is raised, or the share or the source has ended.
    func run(until signal: StopSignal) throws(BroadcastError) {
        var pause = Self.firstPause
        var rejections = 0
        var said: String?
        while !signal.isRaised {
            let reason: String
            if let socket = try connect(&said) {
                let link = BroadcastLink(socket: socket, tokens: tokens, transport: transport)
                switch try follow(link, until: signal) {
                case .done: return
                case .lost(let why):
                    reason = why
                    rejections = 0
                    pause = Self.firstPause
                    said = nil
                case .rejected:
                    rejections += 1
                    guard rejections < Self.mostRejections else {
                        throw .auth(
                            "the share expects another token than that of this process", remedy: Self.tokenCheck)
                    }
                    reason = "it closed the connection"
                }
            } else {
                reason = said ?? "it does not answer"
            }
            if said != reason || rejections == 0 && pause == Self.firstPause {
                observers.forEach { $0.broadcastSenderIsWaiting(reason: reason) }
                said = reason
            }
            guard signal.wait(until: monotonicNow() + pause) else { return }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Connects to the sharing process; nil if it is missing, with `reason` set.
    private func connect(_ reason: inout String?) throws(BroadcastError) -> BroadcastSocket? {
        let (family, name): (Int32, String)
        var address: SocketAddress
        switch (endpoint, transport) {
        case (.port(let port), .tcp):
            (family, name, address) = (AF_INET, "port \(port) of 127.0.0.1", .loopback(port: port))
        case (.port(let port), .sharedMemory):
            let path = BroadcastEndpoint.sharedMemoryPath(port: port, environment: environment)
            // The token must not be sent to another user.
            if BroadcastListener.ownsFolder(of: path) == false {
                throw .network(
                    "the directory of \(path) belongs to another user, or others can write to it",
                    remedy: "set XDG_RUNTIME_DIR to a directory of yours, for both processes")
            }
            (family, name, address) = (AF_UNIX, path, try .path(path))
        case (.path(let path), _): (family, name, address) = (AF_UNIX, path, try .path(path))
        }
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .internal("socket: \(systemMessage(errno))") }
        // On one machine this is immediate, unless the maximum number of connections is waiting.
        var limit = timeval(tv_sec: 0, tv_usec: 500_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard address.with({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let problem = errno
            close(descriptor)
            if problem == EACCES || problem == EPERM { throw .network("\(name): \(systemMessage(problem))") }
            reason =
                problem == ECONNREFUSED || problem == ENOENT
                ? "no share listens at \(name)" : "\(name): \(systemMessage(problem))"
            return nil
        }
        return BroadcastSocket(descriptor: descriptor)
    }

    private func follow(_ link: BroadcastLink, until signal: StopSignal) throws(BroadcastError) -> Ending {
        defer { inbox.setConnected(false) }
        do throws(BroadcastError) {
            try link.begin()
            var readiness = Readiness()
            var lastDeadline: Duration?
            let welcomeDeadline = monotonicNow() + Self.patience
            while !signal.isRaised {
                readiness.removeAll()
                readiness.add(signal.descriptor)
                readiness.add(inbox.wake.descriptor)
                readiness.add(link.socket.descriptor, forWriting: link.isPending)
                let deadline = link.isWelcome ? lastDeadline : welcomeDeadline
                readiness.wait(until: link.waitsForMemory ? monotonicNow() + Self.memoryWait : deadline)
                if readiness.isReady(inbox.wake.descriptor) { inbox.wake.clear() }
                switch try link.receive() {
                case .welcomed:
                    inbox.setConnected(true)
                    observers.forEach { $0.broadcastSenderDidConnect() }
                case .ended: return .done
                case nil: break
                }
                guard link.isWelcome else {
                    if monotonicNow() >= welcomeDeadline { return .lost("it does not answer") }
                    continue
                }
                try hand(to: link)
                guard link.isFinished else { continue }
                if !link.isPending { return .done }
                let now = monotonicNow()
                lastDeadline = lastDeadline ?? now + Self.lastWait
                if let lastDeadline, now >= lastDeadline { return .done }
            }
            return .done
        } catch {
            guard link.socket.isClosed else { throw error }
            // It may have sent the reason, and disconnected while this process was sending.
            if case .ended? = try? link.receive() { return .done }
            // A process that crashed has not received the token: that is not a rejection.
            return link.isTrusted || !link.socket.wasHeard ? .lost("it closed the connection") : .rejected
        }
    }

    private func hand(to link: BroadcastLink) throws(BroadcastError) {
        try link.flush()
        // No message can be sent in the middle of a frame, and messages for a process that does not read wait in the
        // inbox, where newer ones can replace them.
        guard !link.isPending else { return }
        let contents = inbox.take(withFrame: link.hasRoom)
        for message in contents.messages { try link.socket.send(message.encoded) }
        for sound in contents.sounds {
            for message in BroadcastMessage.sounds(of: sound) { try link.socket.send(message.encoded) }
        }
        for voice in contents.voices {
            for message in BroadcastMessage.sounds(of: voice, as: BroadcastMessage.voice) {
                try link.socket.send(message.encoded)
            }
        }
        if let frame = contents.frame, try !link.send(frame, changes: contents.changes) {
            inbox.putBack(frame, changes: contents.changes)
        } else if let finished = contents.finished, !link.isWritingPicture {
            try link.finish(finished)
        }
    }
}
