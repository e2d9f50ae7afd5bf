/// The type of a file, which its name tells: WebM is the part of Matroska that browsers play.
enum DocumentType: String {
    case webm
    case matroska

    /// Creates the type for a path: Matroska if it ends in `.mkv`.
    init(path: String) {
        self = path.lowercased().hasSuffix(".mkv") ? .matroska : .webm
    }

    /// Whether files of this type can contain a codec.
    func canContain(_ codec: RecordedCodec) -> Bool { self == .matroska || codec.isInWebM }
}
