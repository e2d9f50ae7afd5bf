internal import RTCShareWireFormat

/// The reason why a text is not a SPEC.
enum SpecificationError: Error, Hashable {
    /// The problem with the text, and its correction.
    case invalidSpecification(text: String, problem: String, remedy: String)

    /// Returns the error of an unknown name, with the one that was probably meant.
    static func unknown(_ what: String, in text: String, meant: String?, remedy: String) -> Self {
        let problem = text.isEmpty ? "it is empty" : "unknown \(what)" + (meant.map { ". Did you mean '\($0)'?" } ?? "")
        return .invalidSpecification(text: text, problem: problem, remedy: remedy)
    }
}

extension SpecificationError: ExplainedError {
    var explanation: Explanation {
        switch self {
        case .invalidSpecification(let text, let problem, let remedy):
            Explanation("'\(text)': \(problem)", remedy: remedy)
        }
    }
}
