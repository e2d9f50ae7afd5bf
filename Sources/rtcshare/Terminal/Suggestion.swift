/// The word that was probably meant by a misspelled one.
enum Suggestion {
    /// Returns the only candidate that begins with `word`, or the one with the fewest changes; nil if none is close. A
    /// word with another first letter is close only if a single change is needed.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        let longer = candidates.filter { $0.lowercased().hasPrefix(word) }
        if word.count > 1, longer.count == 1 { return longer.first }
        let limit = max(1, word.count / 3)
        let distances = candidates.map { (candidate: $0, distance: distance(word, $0.lowercased())) }
            .filter { $0.distance < 2 || $0.candidate.first?.lowercased() == word.first?.lowercased() }
        guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
        return best.candidate
    }

    /// Returns the number of letters that are added, removed, replaced or swapped with their neighbor (the optimal
    /// string alignment distance).
    private static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var rows = [Array(0...second.count)]
        for i in first.indices {
            var row = [i + 1]
            for j in second.indices {
                let isSame = first[i] == second[j]
                var cost = min(rows[i][j] + (isSame ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
