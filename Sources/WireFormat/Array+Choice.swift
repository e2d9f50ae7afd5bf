extension [String] {
    /// The names as a choice in a sentence: `A`, `A or B`, `A, B or C`.
    package var choice: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or " + last
    }
}
