/// A set of options that have names, by which benchmarks leave them out.
package protocol NamedOptionSet: OptionSet where Element == Self {
    /// The options by their names, in the order of the articles.
    static var named: KeyValuePairs<String, Self> { get }
}

extension NamedOptionSet {
    /// All options.
    package static var all: Self { Self(named.map(\.value)) }

    /// All options except those with these names; nil if a name is unknown. The name `all` is for every option.
    package init?(without names: [String]) {
        var options = Self.all
        for name in names where name != "all" {
            guard let option = Self.named.first(where: { $0.key == name })?.value else { return nil }
            options.subtract(option)
        }
        self = names.contains("all") ? [] : options
    }
}
