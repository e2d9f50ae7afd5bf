internal import Glibc
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// The viewer's answer, from a file or from standard input.
enum AnswerFile {
    /// The reason why a text is not the required answer.
    struct Rejection: Error {
        let failure: CommandFailure
    }

    /// The maximum number of empty texts in a row after which a person is asked again. A closed terminal only gives
    /// empty texts.
    private static let mostEmpty = 3

    /// Reads standard input on a separate thread, which can block.
    static func readInput(
        _ check: @escaping @Sendable (SessionDescription, String) throws -> Void
    ) async throws -> SessionDescription {
        try await WorkerThread.run(named: "answer") { try read("-", check) }
    }

    /// Reads an answer, and passes it with its name in messages to `check`. At a terminal, a person who pasted another
    /// text is asked again, because the offer is still valid.
    static func read(
        _ path: String, _ check: (SessionDescription, String) throws -> Void = { _, _ in }
    ) throws -> SessionDescription {
        try read(
            name: path == "-" ? "the answer" : path, asksAgain: path == "-" && isatty(STDIN_FILENO) == 1, check: check
        ) { () throws(CommandFailure) in try StandardStreams.readText(path, what: "answer") }
    }

    /// Reads an answer as above, from the texts that `readText` returns.
    static func read(
        name: String, asksAgain: Bool, check: (SessionDescription, String) throws -> Void,
        readText: () throws(CommandFailure) -> String
    ) throws -> SessionDescription {
        var emptyCount = 0
        while true {
            let text = try readText()
            emptyCount = text.allSatisfy(\.isWhitespace) ? emptyCount + 1 : 0
            do {
                let answer = try parse(text, name: name)
                try check(answer, name)
                return answer
            } catch let rejection as Rejection {
                guard asksAgain, emptyCount < mostEmpty else { throw rejection }
                Terminal.shared.say(rejection.failure.lines(after: "rtcshare: "))
            }
        }
    }

    private static func parse(_ text: String, name: String) throws(Rejection) -> SessionDescription {
        do throws(CommandFailure) {
            return try PastedDescription(in: text, name: name, expecting: "the viewer's answer")
                .parsed(as: .answer, name: name)
        } catch {
            throw Rejection(failure: error)
        }
    }

    /// Throws if an answer does not fit this offer, before the answer is used.
    static func check(
        _ answer: SessionDescription, answers offer: SessionDescription, name: String
    ) throws(Rejection) {
        do throws(NegotiationError) {
            _ = try Negotiation.negotiate(offer: offer, answer: answer)
        } catch {
            throw Rejection(failure: PastedDescription.failure(error, with: answer, .answer, name: name))
        }
    }
}
