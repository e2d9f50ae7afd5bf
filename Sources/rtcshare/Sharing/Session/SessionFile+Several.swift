internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSDP

/// The sessions of several offers. A new offer keeps the earlier sessions, and an answer finds its own.
extension SessionFile {
    /// The session of an answer, locked by this process.
    struct Match {
        let file: SessionFile
        let session: SharingSession
        let offer: SessionDescription
    }

    /// The maximum number of kept sessions of earlier offers. The oldest is removed first.
    static let mostKept = 16

    /// Locks and reads the session at `path`, or by default the one, of all offers' sessions, to which an answer
    /// belongs.
    static func take(answeredBy answer: SessionDescription, path: String?, now: Date = Date()) throws -> Match {
        let file = SessionFile(path: path)
        return path == nil
            ? try take(answeredBy: answer, among: file, now: now) : try file.readWithOffer(now: now)
    }

    /// Locks and reads the session to which an answer belongs, of the newest offer's and the kept ones. If it belongs
    /// to none, reads the newest.
    static func take(
        answeredBy answer: SessionDescription, among newest: SessionFile, now: Date = Date()
    ) throws -> Match {
        let first = Result { try newest.readWithOffer(now: now) }
        if case .success(let taken) = first, taken.offer.isAnswered(by: answer) { return taken }
        for file in newest.kept {
            guard let taken = try? file.readWithOffer(now: now), taken.offer.isAnswered(by: answer) else { continue }
            return taken
        }
        let used = ([newest] + newest.kept).lazy.compactMap { $0.used(with: answer) }.first
        if let used { throw used }
        return try first.get()
    }

    private func readWithOffer(now: Date) throws -> Match {
        let session = try take(now: now)
        return Match(file: self, session: session, offer: try SessionDescription.parse(session.session.offer))
    }

    /// Keeps the current session for its answer, before another one is stored. Returns whether there was a usable one.
    func keepPrevious(now: Date = Date()) -> Bool {
        removeOld(now: now)
        guard (try? SessionFile(path: path).take(now: now)) != nil else { return false }
        let taken = Set(kept.map(\.path))
        guard let free = (2...Self.mostKept + 1).map(keptPath).first(where: { !taken.contains($0) }) else {
            return false
        }
        return link(path, free) == 0
    }

    /// The files of kept sessions.
    private var kept: [SessionFile] {
        (2...Self.mostKept + 1).map(keptPath).filter { access($0, F_OK) == 0 }.map { SessionFile(path: $0) }
    }

    private func keptPath(_ number: Int) -> String {
        let url = URL(filePath: path)
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appending(path: "\(name)-\(number).\(url.pathExtension)").path
    }

    /// Removes kept sessions that were used or are too old, and the oldest if there is no room for another one.
    private func removeOld(now: Date) {
        var usable: [(file: SessionFile, createdAt: Date)] = []
        for file in kept {
            do throws(CommandFailure) {
                usable.append((file, try SessionFile(path: file.path).take(now: now).createdAt))
            } catch {
                // The share that uses a session at this time removes its secrets.
                if error.status != .unavailable { unlink(file.path) }
            }
        }
        guard usable.count >= Self.mostKept, let oldest = usable.min(by: { $0.createdAt < $1.createdAt }) else {
            return
        }
        unlink(oldest.file.path)
    }
}

extension SessionDescription {
    /// The names of the media sections, which are random for each offer. Nil if a section has none.
    var sectionNames: [String]? {
        let names = media.compactMap { $0.attribute("mid")?.attributeValue }
        return names.count == media.count ? names.map { "\($0)" } : nil
    }

    /// Returns whether a description has the media sections of this offer.
    func isAnswered(by answer: SessionDescription) -> Bool {
        sectionNames.map { $0 == answer.sectionNames } ?? false
    }
}
