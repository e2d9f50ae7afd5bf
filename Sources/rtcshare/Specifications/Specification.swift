internal import FoundationEssentials

/// A source in the form that users write: a SPEC. Files store it as that text.
protocol Specification: Codable, Sendable, Hashable, CustomStringConvertible {
    init(_ text: String) throws(SpecificationError)
}

extension Specification {
    init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The presenter's camera, as users write it after `--camera`: `none`, or a source.
struct CameraSpecification: Specification {
    static let none = CameraSpecification(source: nil)

    /// The source; nil for `none`.
    let source: SourceSpecification?

    init(source: SourceSpecification?) {
        self.source = source
    }

    init(_ text: String) throws(SpecificationError) {
        source = ["none", "off"].contains(text) ? nil : try SourceSpecification(text)
    }

    var description: String { source?.description ?? "none" }

    var withAbsolutePath: CameraSpecification { CameraSpecification(source: source?.withAbsolutePath) }
}

extension SourceSpecification {
    /// The SPEC with an absolute path, because `send` may run in another directory than `offer`.
    var withAbsolutePath: SourceSpecification {
        if case .file(let path, let loop) = self { .file(path: absolute(path), loop: loop) } else { self }
    }
}

extension AudioSpecification {
    /// The SPEC with an absolute path.
    var withAbsolutePath: AudioSpecification {
        if case .file(let path, let loop) = self { .file(path: absolute(path), loop: loop) } else { self }
    }

    /// Whether there is audio.
    var isSound: Bool { self != .none }
}

private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
}
