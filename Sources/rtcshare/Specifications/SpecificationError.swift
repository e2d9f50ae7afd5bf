/// Why a SPEC is none.
enum SpecificationError: Error, Hashable {
    /// What is wrong with it, and a form that is right.
    case invalidSpecification(text: String, problem: String, remedy: String)
    /// It names a kind of source that this version does not have.
    case unsupportedSource(text: String)
}

extension SpecificationError: CustomStringConvertible {
    var description: String {
        switch self {
        case .invalidSpecification(let text, let problem, let remedy): "source '\(text)': \(problem); \(remedy)"
        case .unsupportedSource(let text):
            "source '\(text)' is not supported by this version; the picture of a camera can be given by any other "
                + "SPEC, for instance file:PATH.y4m or test; \(SourceSpecification.forms)"
        }
    }
}
