/// A failure, its reason and its remedy. They are separate, so that each reader can format them.
package struct Explanation: Hashable, Sendable {
    /// The failure and its reason: a sentence without its period.
    package var problem: String
    /// The alternatives, such as windows or cameras, one per entry. The problem introduces them.
    package var list: [String]
    /// An instruction on how to mend the failure, without its period; nil if nothing helps.
    package var remedy: String?

    package init(_ problem: String, list: [String] = [], remedy: String? = nil) {
        self.problem = problem
        self.list = list
        self.remedy = remedy
    }

    /// The failure, its reason and the alternatives, in one line.
    package var statement: String { list.isEmpty ? problem : "\(problem): \(list.joined(separator: ", "))" }

    /// The statement and the remedy in one line, for a log or for a program that prints its errors.
    package var text: String { statement + (remedy.map { "; \($0)" } ?? "") }
}

extension Explanation {
    /// Creates the explanation of an error: its own if it has one, otherwise its description.
    package init(_ error: any Error) { self = (error as? any ExplainedError)?.explanation ?? Explanation("\(error)") }
}

extension Explanation: ExpressibleByStringInterpolation {
    package init(stringLiteral problem: String) { self.init(problem) }
}

/// An error that has an explanation with a separate remedy.
package protocol ExplainedError: Error, CustomStringConvertible {
    var explanation: Explanation { get }
}

extension ExplainedError {
    /// The failure, its reason and its remedy.
    package var description: String { explanation.text }
}
