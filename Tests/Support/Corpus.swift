internal import Foundation

/// Recorded and made messages that lie beside the clone on some machines, in `../shared/corpora`.
public struct Corpus: Sendable {
    /// Queries and responses of multicast DNS.
    public static let multicastDNS = Corpus("mdns-corpus")
    /// Compound packets of RTCP.
    public static let rtcp = Corpus("rtcp-corpus")
    /// Packets of RTP.
    public static let rtp = Corpus("rtp-corpus")
    /// A recorded stream.
    public static let rtpdump = Corpus("rtpdump-corpus")
    /// Session descriptions.
    public static let sdp = Corpus("sdp-corpus")
    /// Messages of STUN and TURN.
    public static let stun = Corpus("stun-corpus")

    /// A file of a corpus.
    public struct File: Sendable {
        /// Its name.
        public let name: String
        /// What is in it.
        public let bytes: [UInt8]
    }

    private let folder: URL

    private init(_ name: String) {
        folder =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/corpora").appending(path: name).standardizedFileURL
    }

    /// Whether it is there; a test of what is in it is skipped where not.
    public var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Its files, those of its folders too, by name.
    public func files() throws -> [File] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { name in
            let file = folder.appendingPathComponent(name)
            guard !file.hasDirectoryPath else { return nil }
            return File(name: name, bytes: [UInt8](try Data(contentsOf: file)))
        }
    }
}
