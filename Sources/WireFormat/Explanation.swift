/// What failed and why, and what a person can do about it: apart, so that each reader gets them in a form of its own.
package struct Explanation: Hashable, Sendable {
    /// What failed, and why: a sentence without its period.
    package var problem: String
    /// What there is instead, such as windows or cameras: an entry each. The problem introduces it.
    package var list: [String]
    /// What to type or to change, as an instruction without its period; nil if nothing helps.
    package var remedy: String?

    package init(_ problem: String, list: [String] = [], remedy: String? = nil) {
        self.problem = problem
        self.list = list
        self.remedy = remedy
    }

    /// What failed, and why, in one line.
    package var statement: String { list.isEmpty ? problem : "\(problem): \(list.joined(separator: ", "))" }

    /// All in one line, for a log or for a program that prints its errors.
    package var text: String { statement + (remedy.map { "; \($0)" } ?? "") }
}

extension Explanation {
    /// What an error says of itself.
    package init(_ error: any Error) { self = (error as? any ExplainedError)?.explanation ?? Explanation("\(error)") }
}

extension Explanation: ExpressibleByStringInterpolation {
    package init(stringLiteral problem: String) { self.init(problem) }
}

/// An error that says what failed and, apart, what to do about it.
package protocol ExplainedError: Error, CustomStringConvertible {
    var explanation: Explanation { get }
}

extension ExplainedError {
    /// What failed, why, and what to do about it.
    package var description: String { explanation.text }
}
