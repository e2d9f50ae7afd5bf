internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareSDP
internal import RTCShareTransport

/// The file of a session, with mode 0600. It is locked while a `send` uses it, and loses its secrets after that.
final class SessionFile: Sendable {
    let path: String
    /// The descriptor of the open file, which is locked until it is closed. -1 before.
    private let opened = Locked<Int32>(-1)
    private var descriptor: Int32 { opened.withLock { $0 } }

    init(path: String?) {
        self.path = path ?? Self.defaultPath
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The maximum number of bytes that are read of a file that may be a session.
    private static let mostBytes = 1 << 20
    private static let newOffer = "rtcshare offer > offer.sdp"

    /// The path `$XDG_STATE_HOME/rtcshare/session.json`, or the same under `~/.local/state`.
    static var defaultPath: String {
        let state =
            folder("XDG_STATE_HOME") ?? (folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path)
            + "/.local/state"
        return state + "/rtcshare/session.json"
    }

    private static func folder(_ variable: String) -> String? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The part that all layouts of the file have.
    private struct Layout: Codable {
        let version: Int
    }

    /// The content of a file whose session was used.
    private struct Tombstone: Codable {
        let usedAt: Date
        /// The names of the offer's media sections, by which its answer is recognized. Nil in files of earlier
        /// versions.
        var sections: [String]?
    }

    /// Replaces the content of the file by a session.
    /// - Throws: An error also if the file is not a session, because it can be in use for something else.
    func store(_ session: SharingSession) throws(CommandFailure) {
        if let content = OpenFile.beginning(ofRegularFile: path, atMost: Self.mostBytes).map({ Data($0) }),
            !content.isEmpty, (try? JSONLayout.decoder.decode(Layout.self, from: content)) == nil,
            (try? JSONLayout.decoder.decode(Tombstone.self, from: content)) == nil
        {
            throw CommandFailure(
                .cannotCreate, "\(path) exists already and is not a session", try: "--session with another file")
        }
        let directory = URL(filePath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PrivateFile(path: path).write(try session.encoded())
        } catch {
            throw CommandFailure(
                .cannotCreate, "can't write the session file \(path): \(StandardStreams.reason(of: error, path: path))",
                try: "--session FILE")
        }
    }

    /// Locks the file until this process ends, and reads the session.
    func take(now: Date = Date()) throws(CommandFailure) -> SharingSession {
        try open()
        return try read(now: now)
    }

    /// Opens and locks the file. Another file can replace it at the path after this.
    func open() throws(CommandFailure) {
        do throws(PrivateFile.Objection) {
            let new = try PrivateFile(path: path).open(O_RDWR)
            opened.withLock { $0 = new }
        } catch {
            throw failure(error)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(
                .unavailable, "another rtcshare send uses the session \(path)",
                try: "rtcshare invite (while the other share runs)")
        }
    }

    /// Reads the session in the opened file.
    func read(now: Date = Date()) throws(CommandFailure) -> SharingSession {
        let data: Data
        do {
            data = try OpenFile(lending: descriptor).readToEnd()
        } catch {
            throw CommandFailure(
                .inputOutput, "can't read the session \(path): \(StandardStreams.reason(of: error))")
        }
        if let tombstone = try? JSONLayout.decoder.decode(Tombstone.self, from: data) { throw failure(tombstone) }
        if let version = try? JSONLayout.decoder.decode(Layout.self, from: data).version { try check(version: version) }
        let session: SharingSession
        do {
            session = try SharingSession.decode(data)
        } catch {
            throw CommandFailure(
                .badInput, "\(path) is not a session of this version of rtcshare", try: Self.newOffer)
        }
        try check(session, now: now)
        return session
    }

    private func failure(_ tombstone: Tombstone) -> CommandFailure {
        CommandFailure(
            .inputMissing,
            "the session \(path) was used at \(tombstone.usedAt.formatted(.iso8601)): each session works once",
            try: Self.newOffer)
    }

    /// Returns the failure of a session that was used with this answer. Nil if it was not.
    func used(with answer: SessionDescription) -> CommandFailure? {
        let file = SessionFile(path: path)
        guard (try? file.open()) != nil, let data = try? OpenFile(lending: file.descriptor).readToEnd(),
            let tombstone = try? JSONLayout.decoder.decode(Tombstone.self, from: data),
            let sections = tombstone.sections, sections == answer.sectionNames
        else { return nil }
        return failure(tombstone)
    }

    /// Removes the secrets from the file after the session was used.
    ///
    /// If a newer offer has replaced the file, this does nothing.
    func consume(_ offer: SessionDescription, now: Date = Date()) throws(CommandFailure) {
        var mine = stat()
        var present = stat()
        guard fstat(descriptor, &mine) == 0, stat(path, &present) == 0,
            mine.st_ino == present.st_ino, mine.st_dev == present.st_dev
        else { return }
        do {
            try PrivateFile(path: path).write(
                try JSONLayout.encoder.encode(Tombstone(usedAt: now, sections: offer.sectionNames)))
        } catch {
            throw CommandFailure(
                .inputOutput, "can't mark the session \(path) as used: \(StandardStreams.reason(of: error))")
        }
    }

    private func failure(_ objection: PrivateFile.Objection) -> CommandFailure {
        switch objection {
        case .unavailable(ENOENT):
            CommandFailure(
                .inputMissing, "there is no session \(path)", try: Self.newOffer)
        case .unavailable(let number):
            CommandFailure(
                number == EACCES || number == EPERM ? .notPermitted : .inputOutput,
                "can't open the session \(path): \(systemMessage(number, path: path))")
        case .notRegular:
            CommandFailure(
                .badInput, "the session \(path) is not a regular file",
                try: "--session with a regular file, not a directory or a link")
        case .notOwned:
            CommandFailure(
                .notPermitted,
                "the session \(path) belongs to another user, who knows its keys", try: Self.newOffer)
        case .accessible:
            CommandFailure(
                .notPermitted,
                "other users may have read or changed the session \(path)",
                try: "\(Self.newOffer) (or, if you trust them: chmod 600 \(path))")
        }
    }

    private func check(version: Int) throws(CommandFailure) {
        guard version != SharingSession.currentVersion else { return }
        throw CommandFailure(
            .badInput,
            "the session \(path) is of another version of rtcshare: its layout is \(version), this one reads "
                + "\(SharingSession.currentVersion)", try: Self.newOffer)
    }

    private func check(_ session: SharingSession, now: Date) throws(CommandFailure) {
        guard session.host == SharingSession.thisHost else {
            throw CommandFailure(
                .badInput,
                "the session \(path) was made on another machine, whose addresses its offer names",
                try: "run rtcshare send on that machine, or make a new offer here")
        }
        let age = now.timeIntervalSince(session.createdAt)
        guard age <= SharingSession.maximumAge else {
            throw CommandFailure(
                .badInput,
                "the session \(path) is too old: its offer was made \(Int(clamping: age / 3600)) hours ago",
                try: Self.newOffer)
        }
    }
}
