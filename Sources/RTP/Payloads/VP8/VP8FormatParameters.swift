/// The rules for the parameters of VP8 (RFC 7741 §6): they are limits of the receiver.
struct VP8FormatParameters: VideoFormatParameters {
    let offered: String? = nil

    func accepts(_ theirs: FormatParameters, _ leniency: FormatLeniency) -> Bool { true }

    func answer(to theirs: FormatParameters) -> String? { nil }

    func limits(in theirs: FormatParameters) -> PictureLimits {
        PictureLimits(
            maximumMacroblocks: theirs.number("max-fs"),
            maximumFramesPerSecond: theirs["max-fr"].flatMap { Double($0) })
    }
}
