internal import RTCShare
internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareSecureTransport
internal import RTCShareVideoCoding

/// The version of rtcshare.
enum Version {
    /// The output of `--version`: this program's version, and those of the libraries that it uses, which can differ
    /// from those with which it was built.
    static var text: String {
        let libraries =
            CodecLibrary.versions + AudioLibraries.versions + SecurityLibraries.versions + CaptureLibraries.versions
        return (["rtcshare \(RTCShareVersion.current)"] + libraries.map { "\($0.name) \($0.version)" }).joined(
            separator: "\n")
    }
}
