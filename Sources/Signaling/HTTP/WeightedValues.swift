internal import RTCShareWireFormat

/// The values of headers with weights (RFC 9110 §12.4.2), such as `Accept-Language`.
struct WeightedValues {
    /// The acceptable values in lower case, in their order, with weights above zero.
    let values: [(value: String, quality: Double)]

    /// The maximum number of values that are read. Browsers send fewer.
    private static let maximumCount = 32

    /// Reads values that are separated by commas.
    init(_ headers: [Substring]) {
        values = headers.flatMap { $0.split(separator: ",") }.prefix(Self.maximumCount).compactMap { element in
            let parts = element.split(separator: ";").map(\.trimmingSpaces)
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            let quality = weight.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0 ? ((parts.first ?? "").lowercased(), quality) : nil
        }
    }

    /// Whether a value is accepted by its name.
    func accepts(_ value: String) -> Bool { values.contains { $0.value == value } }
}
