internal import FoundationEssentials

/// A file of options that a user wants without typing them: `config.toml`.
///
/// Its keys are the options' names. Keys at its top apply to each command that has the option; keys in a table with a
/// command's name, such as `[serve]`, apply to that command.
struct ConfigurationFile {
    /// The maximum size of the file.
    private static let maximumBytes = 1 << 18

    let path: String
    let tables: [TOMLReader.Table]

    /// Returns `$XDG_CONFIG_HOME/rtcshare/config.toml`, or the one in `~/.config`; nil for a process without a home
    /// directory.
    static func defaultPath(environment: [String: String]) -> String? {
        let folder =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.config" : nil }
        return folder.map { $0 + "/rtcshare/config.toml" }
    }

    /// Reads a file that must exist.
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

    /// Returns the keys and values of a table, or of the top.
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
