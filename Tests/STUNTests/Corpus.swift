import Foundation

/// The files of fuzzing that lie beside the repository on some machines.
enum Corpus {
    static let files: [URL] = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let corpus = folder.appendingPathComponent("shared/corpora/stun-corpus")
            let files = try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
            if let files { return files }
            folder.deleteLastPathComponent()
        }
        return []
    }()
}
