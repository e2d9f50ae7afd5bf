internal import FoundationEssentials

/// A source as a person writes it: a SPEC. Files keep it as that text.
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

/// The attendee's own picture, as a person writes it after `--camera`: `none`, or a source.
struct CameraSpecification: Specification {
    static let none = CameraSpecification(source: nil)

    /// Nil for `none`.
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
    /// The same with an absolute path: what `offer` is given holds for `send` wherever that runs.
    var withAbsolutePath: SourceSpecification {
        if case .file(let path, let loop) = self { .file(path: absolute(path), loop: loop) } else { self }
    }
}

extension AudioSpecification {
    /// The same with an absolute path.
    var withAbsolutePath: AudioSpecification {
        if case .file(let path, let loop) = self { .file(path: absolute(path), loop: loop) } else { self }
    }

    /// Whether there is a sound.
    var isSound: Bool { self != .none }
}

private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
}
