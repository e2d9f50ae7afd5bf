/// The rules for the parameters of AV1 (RTP Payload Format For AV1 §7.2).
///
/// A peer without `profile` has profile 0. Level and tier are not limits here: libwebrtc names level 3.1 and decodes
/// larger frames.
struct AV1FormatParameters: VideoFormatParameters {
    /// Profile 0, and level 5.1 for frames that this side receives.
    let offered: String? = "level-idx=13;profile=0;tier=0"

    func accepts(_ theirs: FormatParameters, _ leniency: FormatLeniency) -> Bool {
        theirs["profile"] == nil || theirs.number("profile") == 0
    }

    func answer(to theirs: FormatParameters) -> String? { offered }

    func limits(in theirs: FormatParameters) -> PictureLimits { PictureLimits() }
}
