internal import RTCShareWireFormat

/// Why a text is not a SPEC.
enum SpecificationError: Error, Hashable {
    /// What is wrong with the text, and what to write instead.
    case invalidSpecification(text: String, problem: String, remedy: String)

    /// A text that names nothing, and what was probably meant.
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
