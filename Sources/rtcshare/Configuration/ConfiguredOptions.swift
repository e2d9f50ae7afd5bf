internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc

/// A command whose options a file or the environment can set.
protocol ConfigurableCommand: ParsableCommand {
    var running: RunningOptions { get }
}

extension ServeCommand: ConfigurableCommand {}
extension SendCommand: ConfigurableCommand {}

/// The options that a configuration file and the environment add to the command line of `serve` or `send`.
///
/// The command line has precedence over the environment, and the environment over the file: if an option is given in
/// several places, only the values of one place count.
struct ConfiguredOptions {
    fileprivate struct Setting {
        let name: String
        let arguments: [String]
        let place: String
        /// The values, if they are paths of files.
        var files: [String] = []
    }

    static let commands: [String: any ParsableCommand.Type] = [
        "serve": ServeCommand.self, "send": SendCommand.self,
    ]
    /// The options that an option on the command line replaces, in addition to itself.
    private static let alternatives = [
        "link-token-file": ["no-token"], "no-token": ["link-token-file"],
        "ice-credentials": ["ice-secret-file"], "ice-secret-file": ["ice-credentials"],
        "tls-self-signed": ["tls-certificate", "tls-key"],
        "tls-certificate": ["tls-self-signed"], "tls-key": ["tls-self-signed"], "name": ["control", "no-control"],
        "control": ["name", "no-control"], "no-control": ["name", "control"],
    ]

    /// The variables that do not set options.
    private static let otherVariables = [
        "config", "log", "ice-username", "ice-password", "whip-token", "whep-token", "my-token", "peer-token",
        "broadcast-my-token", "broadcast-peer-token",
    ]

    private let settings: [Setting]
    /// The flags of the command line that undo a setting, such as `--no-ask`, which the parser does not know.
    private var undoing: Set<String> = []

    /// - Parameter arguments: A whole command line without the program's name.
    /// - Throws: `CommandFailure` that names the file's line or the variable.
    init(for arguments: [String], environment: [String: String]) throws {
        let options = arguments.prefix { $0 != "--" }
        let asksForHelp = options.contains {
            ["-h", "--help", "--version"].contains($0) || $0.hasPrefix("--experimental-")
        }
        guard !asksForHelp, let name = arguments.first, let command = Self.commands[name] else {
            settings = []
            return
        }
        var known = try KnownOption.all(of: command)
        known["config"] = nil
        var given = Set(options.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2).prefix { $0 != "=" }) })
        for name in given where name.hasPrefix("no-") && known[String(name.dropFirst(3))]?.isFlag == true {
            given.insert(String(name.dropFirst(3)))
            if known[name] == nil { undoing.insert("--" + name) }
        }
        for name in given { given.formUnion(Self.alternatives[name] ?? []) }
        try Self.checkNames(of: environment, for: name)
        var settings: [Setting] = []
        for option in known.values.sorted(by: { $0.name < $1.name }) where !given.contains(option.name) {
            let variable = option.variable
            guard let text = environment[variable], !text.isEmpty else { continue }
            let value = try option.value(ofVariable: text, at: variable)
            settings.append(try option.setting(value, at: variable, named: "\(variable)=\(text)"))
        }
        given.formUnion(settings.map(\.name))
        if let file = try Self.file(arguments: Array(options), environment: environment) {
            settings += try Self.settings(of: file, for: name, known: known, without: given)
        }
        self.settings = settings
    }

    /// The options that are set, each with its file and line or its variable.
    var origins: [String] { settings.map { "--\($0.name): \($0.place)" } }

    /// Returns the command line with the options, after the command's name.
    func added(to arguments: [String]) -> [String] {
        added(to: arguments, settings)
    }

    /// Returns the place of the option that makes the command line invalid; nil if it is invalid without the options.
    func locationOfFault(in arguments: [String]) -> String? {
        settings.indices.first { index in
            var others = settings
            others.remove(at: index)
            return (try? RTCShareCommand.parseAsRoot(added(to: arguments, others))) != nil
        }.map { settings[$0].place }
    }

    private func added(to arguments: [String], _ settings: [Setting]) -> [String] {
        let typed = arguments.dropFirst()
        let options = typed.prefix { $0 != "--" }
        return Array(arguments.prefix(1)) + settings.flatMap(\.arguments) + options.filter { !undoing.contains($0) }
            + typed.dropFirst(options.count)
    }

    /// Returns a failure of the command with the file's line or the variable, if that sets the option or names the
    /// faulty file.
    func placing(_ failure: CommandFailure) -> CommandFailure {
        let words = failure.message.split { $0.isWhitespace || ",:;'\"".contains($0) }.map(String.init)
        let setting = settings.first { setting in
            words.contains("--" + setting.name) || setting.files.contains(where: words.contains)
        }
        let isPlaced = settings.contains { failure.message.hasPrefix($0.place) }
        return isPlaced ? failure : setting.map { failure.located(at: $0.place) } ?? failure
    }

    /// Rejects a variable with a former name of an option, or with a misspelled one.
    private static func checkNames(of environment: [String: String], for command: String) throws {
        let prefix = "RTCSHARE_"
        let names = try allNames().union(otherVariables)
        for variable in environment.keys.sorted() where variable.hasPrefix(prefix) {
            let name = variable.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
            if names.contains(name) { continue }
            let nearest = Suggestion.nearest(to: name, among: names.sorted()).flatMap { nearest in
                !nearest.hasPrefix(name) || nearest.count < name.count + 3 ? nearest : nil
            }
            guard let meant = CommandArguments.current(of: name, in: command) ?? nearest else { continue }
            let corrected = prefix + meant.replacing("-", with: "_").uppercased()
            throw CommandFailure(
                .badInput, "\(variable): unknown variable. Did you mean \(corrected)?",
                try: "export \(corrected)=VALUE")
        }
    }

    /// Returns the file that these arguments, the environment or the default name; nil if there is none.
    static func file(arguments: [String], environment: [String: String]) throws -> ConfigurationFile? {
        if let index = arguments.lastIndex(where: { $0 == "--config" || $0.hasPrefix("--config=") }) {
            let path = arguments[index].split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
            // If nothing follows, the parser reports the missing value.
            return try (path ?? arguments.dropFirst(index + 1).first).map { try ConfigurationFile(path: $0) }
        }
        if let path = environment["RTCSHARE_CONFIG"], !path.isEmpty { return try ConfigurationFile(path: path) }
        guard let path = ConfigurationFile.defaultPath(environment: environment) else { return nil }
        var status = stat()
        // A file that can't be accessed may contain relevant options.
        if lstat(path, &status) != 0, [ENOENT, ENOTDIR].contains(errno) { return nil }
        return try ConfigurationFile(path: path)
    }

    private static func settings(
        of file: ConfigurationFile, for name: String, known: [String: KnownOption], without given: Set<String>
    ) throws -> [Setting] {
        for table in file.tables {
            guard let name = table.name, commands[name] == nil else { continue }
            throw CommandFailure(
                .badInput, "\(file.path), line \(table.line): unknown table [\(name)]", try: "[serve] or [send]")
        }
        var settings: [Setting] = []
        let own = file.entries(of: name)
        for (table, entries) in [(name, own), (nil, file.entries(of: nil).filter { own[$0.key] == nil })] {
            for (key, entry) in entries.sorted(by: { $0.value.line < $1.value.line }) {
                let place = "\(file.path), line \(entry.line)"
                guard let option = known[key] else {
                    let names = table == nil ? try allNames() : Set(known.keys)
                    // The top also has options of other commands.
                    guard table == nil, names.contains(key) else {
                        throw unknown(key, at: place, of: name, among: names)
                    }
                    continue
                }
                if given.contains(key) { continue }
                settings.append(try option.setting(entry.value, at: place, named: "\(place): \(key)"))
            }
        }
        return settings
    }

    /// Returns the names of the options of all commands.
    private static func allNames() throws -> Set<String> {
        var names = Set(try commands.values.flatMap { try KnownOption.all(of: $0).keys })
        names.remove("config")
        return names
    }

    private static func unknown(
        _ key: String, at place: String, of command: String, among known: Set<String>
    ) -> CommandFailure {
        let meant = CommandArguments.current(of: key, in: command) ?? Suggestion.nearest(to: key, among: known.sorted())
        return CommandFailure(
            .badInput, "\(place): unknown option '\(key)'" + (meant.map { ". Did you mean '\($0)'?" } ?? ""),
            try: "rtcshare help \(command)")
    }
}

extension KnownOption {
    /// The environment variable that sets the option.
    fileprivate var variable: String { "RTCSHARE_" + name.replacing("-", with: "_").uppercased() }

    /// Returns the value of a variable: spaces separate several values.
    fileprivate func value(ofVariable text: String, at place: String) throws -> ConfiguredValue {
        guard isFlag else { return isRepeatable ? .list(text.split(separator: " ").map(String.init)) : .text(text) }
        switch text.lowercased() {
        case "1", "true", "yes", "on": return .truth(true)
        case "0", "false", "no", "off": return .truth(false)
        default: return .text(text)
        }
    }

    /// Returns the setting of the option for a command line. `name` is the name of the key or the variable in errors.
    /// - Throws: `CommandFailure` for a value of another kind than the option's.
    fileprivate func setting(
        _ value: ConfiguredValue, at place: String, named name: String
    ) throws(CommandFailure) -> ConfiguredOptions.Setting {
        var files: [String] = []
        let arguments: [String]
        switch value {
        case .truth(let isOn) where isFlag:
            arguments = isOn ? ["--\(self.name)"] : isInvertible ? ["--no-\(self.name)"] : []
        case .text(let text) where !isFlag: (arguments, files) = (["--\(self.name)=\(text)"], [text])
        case .list(let texts) where isRepeatable: (arguments, files) = (texts.map { "--\(self.name)=\($0)" }, texts)
        default:
            let kind =
                isFlag
                ? "true or false" : isRepeatable ? "a string or an array of strings" : "one string or one number"
            let isVariable = place == variable
            throw CommandFailure(
                .badInput, "\(name): the value must be \(kind)",
                try: isVariable ? "export \(variable)=\(isFlag ? "true" : "TEXT")" : example)
        }
        return ConfiguredOptions.Setting(
            name: self.name, arguments: arguments, place: place, files: isFile ? files.filter { !$0.isEmpty } : [])
    }

    /// A line of a file that sets the option.
    private var example: String {
        "\(name) = " + (isFlag ? "true" : isRepeatable ? "[\"TEXT\", \"TEXT\"]" : "\"TEXT\"")
    }
}
