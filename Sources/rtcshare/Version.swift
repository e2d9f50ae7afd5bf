internal import RTCShare
internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareSecureTransport
internal import RTCShareVideoCoding

/// Which rtcshare this is.
enum Version {
    /// What `--version` says: this program's version, and those of the libraries that it runs on, which are not always
    /// those that it was built with.
    static var text: String {
        let libraries =
            CodecLibrary.versions + AudioLibraries.versions + SecurityLibraries.versions + CaptureLibraries.versions
        return (["rtcshare \(RTCShareVersion.current)"] + libraries.map { "\($0.name) \($0.version)" }).joined(
            separator: "\n")
    }
}
