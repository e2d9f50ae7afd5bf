internal import FoundationEssentials

/// A file of options that a person wants without typing them: `config.toml`.
///
/// Its keys are the options' names. Those at its top are for each command that has the option; those in a table with a
/// command's name, such as `[serve]`, are for that command.
struct ConfigurationFile {
    /// Nobody writes more options than this.
    private static let maximumBytes = 1 << 18

    let path: String
    let tables: [TOMLReader.Table]

    /// `$XDG_CONFIG_HOME/rtcshare/config.toml`, or that in `~/.config`; nil for a process without a home.
    static func defaultPath(environment: [String: String]) -> String? {
        let folder =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.config" : nil }
        return folder.map { $0 + "/rtcshare/config.toml" }
    }

    /// Reads a file that has to exist.
    init(path: String) throws {
        let text = try StandardStreams.readText(path, what: "configuration file", atMost: Self.maximumBytes)
        do {
            tables = try TOMLReader.read(text)
        } catch {
            throw CommandFailure(
                .badInput, "\(path), line \(error.line): \(error.text)", try: "correct line \(error.line) of \(path)")
        }
        self.path = path
    }

    /// The keys and values of a table, or of the top.
    func entries(of table: String?) -> [String: TOMLReader.Entry] {
        tables.first { $0.name == table }?.entries ?? [:]
    }
}

/// The value of an option, outside of a command line.
enum ConfiguredValue: Hashable {
    case text(String)
    case truth(Bool)
    case list([String])
}
