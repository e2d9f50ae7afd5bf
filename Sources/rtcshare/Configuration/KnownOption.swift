internal import ArgumentParser
internal import FoundationEssentials

/// An option of a command, as the parser describes it.
struct KnownOption {
    let name: String
    let isFlag: Bool
    let isRepeatable: Bool
    /// Whether the value is the path of a file.
    let isFile: Bool
    /// Whether `--no-NAME` turns the flag off.
    var isInvertible = false

    /// Returns the options of a command, by name, without those that only print help or the version.
    static func all(of command: any ParsableCommand.Type) throws -> [String: KnownOption] {
        let description = try JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
        var known: [String: KnownOption] = [:]
        for argument in description.command.arguments ?? [] where argument.kind != "positional" {
            for name in argument.names ?? [] where name.kind == "long" && !["help", "version"].contains(name.name) {
                known[name.name] = KnownOption(
                    name: name.name, isFlag: argument.kind == "flag", isRepeatable: argument.isRepeating,
                    isFile: argument.completionKind?.file != nil)
            }
        }
        let names = Set(known.keys)
        return known.mapValues { option in
            var option = option
            option.isInvertible = option.isFlag && names.contains("no-\(option.name)")
            return option
        }
    }

    private struct Description: Decodable {
        struct Command: Decodable {
            let arguments: [Argument]?
        }
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let kind: String
            let names: [Name]?
            struct Completion: Decodable {
                struct File: Decodable {}
                let file: File?
            }
            let isRepeating: Bool
            let completionKind: Completion?
        }
        let command: Command
    }
}
