internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareStreams

/// The recording of the share, which can be started and stopped while it runs.
extension RunningShare {
    /// The recording that still writes; nil if there is none, or if it has failed.
    var activeFilm: FilmFile? { film.flatMap { $0.recorder.isOpen ? $0 : nil } }

    /// Starts a recording. Returns a sentence with the result.
    func startRecording() async throws -> String {
        try await recordingTurns.run {
            try checkIsRunning()
            if let activeFilm { return "The share is already recorded to \(activeFilm.recorder.path)." }
            // The failure of an earlier recording was reported when it occurred.
            _ = try? await film?.close()
            film = nil
            let codec = options.quality.encoding.codecs?.first
            let path = options.output.record ?? Self.usualPath(codec: codec, at: Date())
            let opened = try await WorkerThread.run(named: "recording") { () throws(CommandFailure) in
                try FilmFile(path: path, activity: "the share", isNumbered: true)
            }
            record(to: opened)
            return "The share is recorded to \(opened.recorder.path)."
        }
    }

    /// Ends the recording. Returns a sentence with the result.
    func stopRecording() async throws -> String {
        try await recordingTurns.run {
            guard let film else { return "The share is not recorded." }
            self.film = nil
            let report = try await film.close()
            note([report])
            return report
        }
    }

    /// Ends the recording at the end of the share. Its report belongs to the reason of the end.
    /// - Throws: The failure of a recording that the command requested. Another one ends with the share, and does not fail it.
    func endRecording() async throws {
        try await recordingTurns.run {
            guard let film else { return }
            let report: String
            do throws(CommandFailure) {
                report = try await film.close()
            } catch {
                if film === requestedFilm { throw error }
                Terminal.shared.say(error.lines(after: "Warning: "))
                report = error.message
            }
            endReason = [endReason, report].compactMap { $0 }.joined(separator: "\n")
        }
    }

    /// Records all sent media from now on.
    func record(to film: FilmFile) {
        self.film = film
        film.onReport { [events] in events.yield(.told($0)) }
        room.record(to: film.recorder)
    }

    /// Returns the path of a recording that the presenter gave no name: in the directory for videos, with the time.
    nonisolated static func usualPath(
        codec: String?, at time: Date, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        let folders = [environment["XDG_VIDEOS_DIR"], videoFolder(home, environment)].compactMap { $0 }
        let folder = folders.first(where: isFolder) ?? home
        let path = folder + (folder.hasSuffix("/") ? "" : "/") + "rtcshare \(time.nameOfFile).webm"
        guard let codec, WebMRecorder.problem(withCodec: codec, in: path) != nil else { return path }
        return path.dropLast("webm".count) + "mkv"
    }

    /// Returns the directory for videos in the list of xdg-user-dirs; nil if there is none.
    private nonisolated static func videoFolder(_ home: String, _ environment: [String: String]) -> String? {
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
        let list = try? String(contentsOfFile: configuration + "/user-dirs.dirs", encoding: .utf8)
        let line = list?.split(separator: "\n").last { $0.hasPrefix("XDG_VIDEOS_DIR=") }
        guard let value = line?.split(separator: "=", maxSplits: 1).last?.split(separator: "\"").first else {
            return nil
        }
        return value.hasPrefix("$HOME/") ? home + value.dropFirst("$HOME".count) : String(value)
    }

    /// Returns whether a path is absolute, and that of a directory.
    private nonisolated static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return path.hasPrefix("/") && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }
}
