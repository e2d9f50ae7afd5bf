internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare

/// What is shared, as a person wrote it: a session keeps it from `offer` to `send`.
struct SourceSelection: Codable, Sendable {
    var source: String?
    var audio: [String]
    var microphone: String?
    var camera: String?

    /// What leaves a picture or a sound out.
    static let none = AudioSpecification.none.description

    /// These, with paths that hold wherever they are opened.
    var withAbsolutePaths: SourceSelection {
        SourceSelection(
            source: source?.withAbsolutePath, audio: audio.map(\.withAbsolutePath),
            microphone: microphone?.withAbsolutePath, camera: camera?.withAbsolutePath)
    }

    /// These, and with a test picture, where nothing is said of sound, a beep at each of its flashes: who tries a link out
    /// hears whether sound arrives.
    var withTestSound: SourceSelection {
        guard audio.isEmpty, case .test? = source.flatMap({ try? SourceSpecification($0) }) else { return self }
        var selection = self
        selection.audio = [AudioSpecification.beep.description]
        return selection
    }

    /// Which option reads the pictures of standard input, of which there is one; nil where none does.
    func standardInputOption() throws(CommandFailure) -> String? {
        let options = [("--source", source), ("--camera", camera)].filter {
            $0.1 == SourceSpecification.standardInput.description
        }
        guard options.count < 2 else {
            throw CommandFailure(
                .usage, "--source and --camera can't both be standard input", try: "name a file for one of them")
        }
        return options.first?.0
    }

    /// Refuses pictures and an answer that both are standard input.
    func checkStandardInput(answer: String) throws(CommandFailure) {
        guard let option = try standardInputOption(), answer == "-" else { return }
        throw CommandFailure(
            .usage,
            "\(option): standard input can't be both the answer and the video",
            try: "rtcshare offer, then rtcshare send --answer FILE")
    }

    /// These, and where nothing is said, those that the offer was told.
    func merged(over offered: SourceSelection) -> SourceSelection {
        var merged = self
        merged.source = source ?? offered.source
        merged.audio = audio.isEmpty ? offered.audio : audio
        merged.microphone = microphone ?? offered.microphone
        merged.camera = camera ?? offered.camera
        return merged
    }

    /// Finds what can't be a source, before anything is opened.
    func check() throws(CommandFailure) {
        for (option, text) in [("--source", source), ("--camera", shownCamera)] {
            guard let text else { continue }
            do {
                _ = try SourceSpecification(text)
            } catch {
                throw CommandFailure(error, of: option)
            }
        }
        for (option, text) in audio.map({ ("--audio", $0) }) + (microphone.map { [("--microphone", $0)] } ?? []) {
            do {
                _ = try AudioSpecification(text)
            } catch {
                throw CommandFailure(error, of: option)
            }
        }
    }

    /// What an offer of this has sections for. The content always has one.
    var media: Set<SharedMedia> {
        var media: Set<SharedMedia> = [.content]
        if audio.contains(where: isSound) { media.insert(.contentAudio) }
        if microphone.map(isSound) == true { media.insert(.microphone) }
        if shownCamera != nil { media.insert(.camera) }
        return media
    }

    /// Refuses what the offer has no section for: no viewer could be told of it any more.
    func check(offered: SourceSelection) throws(CommandFailure) {
        let names: [(SharedMedia, String)] = [
            (.contentAudio, "--audio"), (.microphone, "--microphone"), (.camera, "--camera"),
        ]
        for (media, name) in names where self.media.contains(media) && !offered.media.contains(media) {
            throw CommandFailure(
                .usage,
                "the offer was made without \(name), so \(name) can't be added now",
                try: "rtcshare offer \(name) … (then get a new answer)")
        }
    }

    /// Lines that tell a person which sounds are shared; `remedy` is what shares one.
    func soundLines(remedy: String) -> [String] {
        let sounds = audio.filter(isSound)
        var lines = [
            "Sound: \(sounds.isEmpty ? Self.none : sounds.joined(separator: ", "))."
                + (audio.isEmpty ? " To share it, \(remedy)." : "")
        ]
        if let microphone, isSound(microphone) { lines.append("Microphone: \(microphone).") }
        return lines
    }

    /// The SPEC of the camera, unless it is to be left out.
    var shownCamera: String? { camera == Self.none ? nil : camera }

    private func isSound(_ text: String) -> Bool { text != Self.none }
}

extension String {
    /// A SPEC with the path in it made absolute: what `offer` is told holds for `send` wherever that runs.
    var withAbsolutePath: String {
        guard hasPrefix("file:"), !hasPrefix("file:-"), !hasPrefix("file:/"), count > 5 else { return self }
        return "file:\(FileManager.default.currentDirectoryPath)/\(dropFirst(5))"
    }
}
