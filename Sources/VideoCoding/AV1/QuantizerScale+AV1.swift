extension QuantizerControl.Scale {
    /// The quantizers of libaom's configuration, 0 to 63, with the sizes of a page of text relative to that at 30.
    static let av1 = Self(
        weights: interpolated([
            (0, 4), (1, 4), (2, 3.2), (10, 1.9), (20, 1.16), (30, 1), (40, 0.86), (50, 0.71), (55, 0.6), (57, 0.54),
            (60, 0.43), (63, 0.3),
        ]), usualComplexity: 11)

    /// The ``Coarseness`` at each of them.
    static let av1Coarseness = interpolated([
        (0, 0), (1, 0), (2, 1), (10, 5), (30, 15), (43, 29), (53, 60), (60, 95), (62, 106), (63, 127),
    ]).map { Int($0.rounded()) }

    /// Returns the values from 0 to the last key, of which some are given.
    private static func interpolated(_ points: [(Int, Double)]) -> [Double] {
        var values = [points[0].1]
        for (from, to) in zip(points, points.dropFirst()) {
            for index in 1...(to.0 - from.0) {
                values.append(from.1 + (to.1 - from.1) * Double(index) / Double(to.0 - from.0))
            }
        }
        return values
    }
}
