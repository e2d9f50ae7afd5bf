internal import RTCShareCOpus
internal import RTCShareCSampleRate
internal import RTCShareCSndFile

/// The libraries that this module uses.
package enum AudioLibraries {
    /// The versions that the libraries report.
    package static var versions: [(name: String, version: String)] {
        [opus_get_version_string(), sf_version_string(), src_get_version()].compactMap { text in
            text.flatMap { split(String(cString: $0)) }
        }
    }

    /// Splits a text such as `libopus 1.3.1`, `libsndfile-1.2.0` or `libsamplerate-0.2.2 (c) …`.
    private static func split(_ text: String) -> (name: String, version: String)? {
        let words = text.split(maxSplits: 2) { $0 == " " || $0 == "-" }
        return words.count > 1 ? (String(words[0]), String(words[1])) : nil
    }
}
