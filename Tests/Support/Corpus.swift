internal import Foundation

/// Recorded and constructed messages next to the clone on some machines, in `../shared/corpora`.
public struct Corpus: Sendable {
    /// Multicast DNS queries and responses.
    public static let multicastDNS = Corpus("mdns-corpus")
    /// Compound RTCP packets.
    public static let rtcp = Corpus("rtcp-corpus")
    /// RTP packets.
    public static let rtp = Corpus("rtp-corpus")
    /// A recorded stream.
    public static let rtpdump = Corpus("rtpdump-corpus")
    /// Session descriptions.
    public static let sdp = Corpus("sdp-corpus")
    /// STUN and TURN messages.
    public static let stun = Corpus("stun-corpus")

    /// A file of a corpus.
    public struct File: Sendable {
        /// The file's name.
        public let name: String
        /// The file's content.
        public let bytes: [UInt8]
    }

    private let folder: URL

    private init(_ name: String) {
        folder =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/corpora").appending(path: name).standardizedFileURL
    }

    /// Whether the corpus exists; tests of its content are skipped otherwise.
    public var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Returns its files, including those in subdirectories, sorted by name.
    public func files() throws -> [File] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { name in
            let file = folder.appendingPathComponent(name)
            guard !file.hasDirectoryPath else { return nil }
            return File(name: name, bytes: [UInt8](try Data(contentsOf: file)))
        }
    }
}
