internal import RTCShareContentShare

/// The sources that a person selected. A session stores them from `offer` to `send`.
struct SourceSelection: Codable, Sendable, Hashable {
    /// The content. Nil for the default.
    var source: SourceSpecification?
    /// The audio sources of the content, which are mixed.
    var audio: [AudioSpecification]
    var microphone: AudioSpecification?
    /// The attendee's camera. Nil if none is selected.
    var camera: CameraSpecification?

    /// The selection with absolute paths, which are valid in any working directory.
    var withAbsolutePaths: SourceSelection {
        var selection = self
        selection.source = source?.withAbsolutePath
        selection.audio = audio.map(\.withAbsolutePath)
        selection.microphone = microphone?.withAbsolutePath
        selection.camera = camera?.withAbsolutePath
        return selection
    }

    /// Returns the option that reads video from standard input. Nil if none does.
    /// - Throws: An error if two options do.
    func standardInputOption() throws(CommandFailure) -> String? {
        let options = [("--source", source), ("--camera", camera?.source)].filter { $0.1 == .standardInput }
        guard options.count < 2 else {
            throw CommandFailure(
                .usage, "--source and --camera can't both be standard input", try: "name a file for one of them")
        }
        return options.first?.0
    }

    /// Throws if the video and the answer both come from standard input.
    func checkStandardInput(answer: String) throws(CommandFailure) {
        guard let option = try standardInputOption(), answer == "-" else { return }
        throw CommandFailure(
            .usage,
            "\(option): standard input can't be both the answer and the video",
            try: "rtcshare offer, then rtcshare send --answer FILE")
    }

    /// Returns this selection, with the offer's sources for options that were not given.
    func merged(over offered: SourceSelection) -> SourceSelection {
        var merged = self
        merged.source = source ?? offered.source
        merged.audio = audio.isEmpty ? offered.audio : audio
        merged.microphone = microphone ?? offered.microphone
        merged.camera = camera ?? offered.camera
        return merged
    }

    /// The media for which an offer has media sections. It always has one for the content.
    var media: Set<SharedMedia> {
        var media: Set<SharedMedia> = [.content]
        if audio.contains(where: \.isSound) { media.insert(.contentAudio) }
        if microphone?.isSound == true { media.insert(.microphone) }
        if camera?.source != nil { media.insert(.camera) }
        return media
    }

    /// Throws if the offer has no media section for a selected medium, because no viewer could receive it.
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

    /// Returns the lines that report the audio sources. `remedy` is the advice on how to share one.
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
