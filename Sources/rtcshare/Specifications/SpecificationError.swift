/// Why a SPEC is none.
enum SpecificationError: Error, Hashable {
    /// What is wrong with it, and a form that is right.
    case invalidSpecification(text: String, problem: String, remedy: String)
}

extension SpecificationError: CustomStringConvertible {
    var description: String {
        switch self {
        case .invalidSpecification(let text, let problem, let remedy): "source '\(text)': \(problem); \(remedy)"
        }
    }
}
