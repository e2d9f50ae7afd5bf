internal import RTCShareContentShare

/// The sources that a person chose: a session keeps them from `offer` to `send`.
struct SourceSelection: Codable, Sendable, Hashable {
    /// What is shared; nil for the default.
    var source: SourceSpecification?
    /// The sounds of it, which are mixed.
    var audio: [AudioSpecification]
    var microphone: AudioSpecification?
    /// The attendee's own picture; nil if nothing was said, which is none.
    var camera: CameraSpecification?

    /// These, with paths that hold wherever they are opened.
    var withAbsolutePaths: SourceSelection {
        var selection = self
        selection.source = source?.withAbsolutePath
        selection.audio = audio.map(\.withAbsolutePath)
        selection.microphone = microphone?.withAbsolutePath
        selection.camera = camera?.withAbsolutePath
        return selection
    }

    /// Which option reads the video of standard input, which one can; nil if none does.
    func standardInputOption() throws(CommandFailure) -> String? {
        let options = [("--source", source), ("--camera", camera?.source)].filter { $0.1 == .standardInput }
        guard options.count < 2 else {
            throw CommandFailure(
                .usage, "--source and --camera can't both be standard input", try: "name a file for one of them")
        }
        return options.first?.0
    }

    /// Refuses video and an answer that both are standard input.
    func checkStandardInput(answer: String) throws(CommandFailure) {
        guard let option = try standardInputOption(), answer == "-" else { return }
        throw CommandFailure(
            .usage,
            "\(option): standard input can't be both the answer and the video",
            try: "rtcshare offer, then rtcshare send --answer FILE")
    }

    /// These, and where nothing is said, those that the offer was made with.
    func merged(over offered: SourceSelection) -> SourceSelection {
        var merged = self
        merged.source = source ?? offered.source
        merged.audio = audio.isEmpty ? offered.audio : audio
        merged.microphone = microphone ?? offered.microphone
        merged.camera = camera ?? offered.camera
        return merged
    }

    /// What an offer of this has sections for. The content always has one.
    var media: Set<SharedMedia> {
        var media: Set<SharedMedia> = [.content]
        if audio.contains(where: \.isSound) { media.insert(.contentAudio) }
        if microphone?.isSound == true { media.insert(.microphone) }
        if camera?.source != nil { media.insert(.camera) }
        return media
    }

    /// Refuses media that the offer has no section for: no viewer could receive them any more.
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
        let sounds = audio.filter(\.isSound).map(\.description)
        var lines = [
            "Audio: \(sounds.isEmpty ? "none" : sounds.joined(separator: ", "))."
                + (audio.isEmpty ? " To share audio, \(remedy)." : "")
        ]
        if let microphone, microphone.isSound { lines.append("Microphone: \(microphone).") }
        return lines
    }
}
