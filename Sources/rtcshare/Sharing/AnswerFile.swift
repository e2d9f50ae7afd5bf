internal import Glibc
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// An answer as the viewer gave it, in a file or on standard input.
enum AnswerFile {
    /// Why a text is not the answer that is needed.
    struct Rejection: Error {
        let failure: CommandFailure
    }

    /// How often in a row an empty text is answered with the question again: a terminal that is gone gives nothing else.
    private static let mostEmpty = 3

    /// Reads standard input on a thread that may wait.
    static func readInput(
        _ check: @escaping @Sendable (SessionDescription, String) throws -> Void
    ) async throws -> SessionDescription {
        try await WorkerThread.run(named: "answer") { try read("-", check) }
    }

    /// Reads an answer, which `check` gets with its name in messages. At a terminal a person who pasted something else is
    /// asked again: what was offered is still there.
    static func read(
        _ path: String, _ check: (SessionDescription, String) throws -> Void = { _, _ in }
    ) throws -> SessionDescription {
        try read(
            name: path == "-" ? "the answer" : path, asksAgain: path == "-" && isatty(STDIN_FILENO) == 1, check: check
        ) { () throws(CommandFailure) in try StandardStreams.readText(path, what: "answer") }
    }

    /// The same of what `readText` gives each time.
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

    /// Finds what is wrong with an answer to this offer, before anything is done with it.
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
