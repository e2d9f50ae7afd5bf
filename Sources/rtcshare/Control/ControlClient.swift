internal import Glibc
internal import NIOHTTP1
internal import RTCShareLocks
internal import RTCShareSignaling

/// A command's client for a running share.
struct ControlClient: Sendable {
    /// The error of a share that closed the connection before it answered, or while it was watched.
    private struct Ended: Error {}

    private struct Problem: Decodable {
        let detail: String
        let list: [String]?
        let remedy: String?
        let exitStatus: Int32?
    }

    let path: String
    var peer = SocketPeer(user: geteuid())

    /// The timeout for a change: an offer takes as long as the slowest ICE server, and a source may wait for the user.
    private static let patience = Duration.seconds(60)
    /// The timeout for the state, which the share returns at once.
    private static let statePatience = Duration.seconds(10)
    /// The maximum size of an event.
    private static let maximumEventBytes = 1 << 20

    /// Sends a request, and waits for the answer.
    /// - Throws: The reason if the share rejects it.
    func ask<Answer: Decodable>(_ request: ControlRequest, _ type: Answer.Type) async throws -> Answer {
        do {
            return try Self.read(type, from: try await send(try request.call))
        } catch is Ended {
            throw Self.ended
        }
    }

    private static let ended = CommandFailure(
        .unavailable, "the share ended, or closed the connection, before it answered")

    /// Stops the share, and returns a sentence about it when it has ended.
    func stop() async throws -> String? {
        do {
            return try Self.read(ControlNotice.self, from: try await send(try ControlRequest.stop.call)).notice
        } catch is Ended {
            // Another command may have stopped it.
            if ControlSocket(path: path).isAnswered { throw Self.ended }
            return Share.stop
        }
    }

    /// Returns the state of the share at once and when it has changed, until the share ends.
    func states() -> AsyncThrowingStream<ControlledShare, any Error> {
        let (states, continuation) = AsyncThrowingStream.makeStream(of: ControlledShare.self)
        let received = Locked<[UInt8]>([])
        Task {
            do {
                _ = try await send(ControlCall.watch) { piece in
                    do {
                        for event in try received.withLock({ try Self.events(in: &$0, with: piece) }) {
                            guard let event else { return false }
                            continuation.yield(try Self.read(ControlledShare.self, from: event))
                        }
                        return true
                    } catch {
                        continuation.finish(throwing: error)
                        return false
                    }
                }
                continuation.finish()
            } catch is Ended {
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return states
    }

    /// Returns the data of the server-sent events (HTML §9.2) with a state that `piece` completes; nil for the end of the
    /// share. The share writes the data of an event in one line.
    private static func events(in received: inout [UInt8], with piece: [UInt8]) throws -> [[UInt8]?] {
        received += piece
        guard received.count <= maximumEventBytes else {
            throw CommandFailure(.protocol, "the share sent an event that is too long")
        }
        var events: [[UInt8]?] = []
        while let end = received.firstRange(of: Array("\n\n".utf8)) {
            let event = received[..<end.lowerBound]
            received.removeSubrange(..<end.upperBound)
            let head = Array("event: share\ndata: ".utf8)
            if event.starts(with: head) { events.append(Array(event.dropFirst(head.count))) }
            if event.starts(with: Array("event: ended".utf8)) { events.append(nil) }
            if event.starts(with: Array("event: idle".utf8)) {
                throw CommandFailure(.inputMissing, "nothing is shared", try: "rtcshare present")
            }
        }
        return events
    }

    private static func read<Answer: Decodable>(_ type: Answer.Type, from body: [UInt8]) throws -> Answer {
        do {
            return try ControlJSON.decode(type, from: body)
        } catch {
            throw CommandFailure(.protocol, "this version of rtcshare does not understand the share's answer")
        }
    }

    /// Whether the share answers a request that it can answer at once.
    private func answersState() async -> Bool {
        guard let call = try? ControlRequest.status.call else { return false }
        return (try? await send(call)) != nil
    }

    /// Returns the body of the response, unless `receive` accepts it.
    private func send(_ call: ControlCall, receive: (@Sendable ([UInt8]) -> Bool)? = nil) async throws -> [UInt8] {
        let patience = call.method == .GET && receive == nil ? Self.statePatience : Self.patience
        let client = LocalHTTPClient(
            path: path, timeout: patience, isTrusted: { SocketPeer(of: $0).isTrusted(by: geteuid()) },
            receive: receive)
        let response: (status: Int, body: [UInt8])
        do throws(LocalHTTPClient.Failure) {
            response = try await client.perform(call.method.rawValue, call.path, json: call.body)
        } catch {
            guard case .timedOut = error else { throw Ended() }
            if ![.GET, .DELETE].contains(call.method), await answersState() {
                throw CommandFailure(
                    .unavailable,
                    "the share has not finished this within \(patience.components.seconds) seconds, and continues: it may "
                        + "wait for somebody's permission", try: "rtcshare status")
            }
            throw peer.stop
                ?? CommandFailure(
                    .unavailable,
                    "the share did not answer within \(patience.components.seconds) seconds, its process is \(peer.process)",
                    try: "kill \(peer.process)")
        }
        guard (200..<300).contains(response.status) else {
            let problem = try Self.read(Problem.self, from: response.body)
            let status = problem.exitStatus.flatMap(CommandFailure.Status.init(rawValue:))
            throw CommandFailure(
                status ?? .internalError, report: [problem.detail] + (problem.list ?? []).map { "  " + $0 },
                try: problem.remedy)
        }
        return response.body
    }
}
