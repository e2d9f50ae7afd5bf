/// Prepares the arguments of the process for the parser: former names of commands and options become the current ones,
/// and a negative number becomes the value of the option before it. Help and completions show no former name.
enum CommandArguments {
    private static let commands = ["broadcast": "capture", "source": "switch"]
    private static let options: [String: [String: String]] = [
        "serve": janus.merging(["--token-file": "--link-token-file"]) { $1 },
        "send": janus.merging(["--token-file": "--whip-token-file"]) { $1 },
        "view": janus.merging(["--token-file": "--whep-token-file"]) { $1 },
        "sources": ["--minimised": "--minimized"],
    ]
    private static let janus = [
        "--room": "--janus-room", "--pin-file": "--janus-pin-file", "--secret-file": "--janus-secret-file",
        "--room-bitrate": "--janus-bitrate", "--publisher": "--janus-publisher",
    ]

    /// Returns the option of a command with this former name, without dashes.
    static func current(of name: String, in command: String) -> String? {
        options[command]?["--" + name].map { String($0.dropFirst(2)) }
    }

    static func prepared(_ arguments: [String]) -> [String] {
        // A shell that requests completions passes the words of an incomplete line.
        guard arguments.first?.hasPrefix("---") != true else { return arguments }
        // The parser has no help for its `help`.
        let arguments = arguments.starts(with: ["help", "help"]) ? Array(arguments.dropFirst()) : arguments
        var prepared: [String] = []
        var command: String?
        var isOptionsEnd = false
        var numbers: [String] = []
        for argument in arguments {
            if isOptionsEnd {
                prepared.append(argument)
            } else if argument == "--" {
                isOptionsEnd = true
                prepared.append(argument)
            } else if command == nil, argument != "help", !argument.hasPrefix("-") {
                let name = commands[argument] ?? argument
                command = name
                prepared.append(name)
            } else if isNegativeNumber(argument), let option = prepared.last, takesValue(option) {
                prepared[prepared.count - 1] = "\(option)=\(argument)"
            } else if isNegativeNumber(argument), ["admit", "kick"].contains(command) {
                numbers.append(argument)
            } else {
                let name = String(argument.prefix { $0 != "=" })
                let current = options[command ?? ""]?[name]
                prepared.append(current.map { $0 + argument.dropFirst(name.count) } ?? argument)
            }
        }
        // After the options, a negative number is an argument.
        return prepared + (numbers.isEmpty ? [] : (isOptionsEnd ? [] : ["--"]) + numbers)
    }

    private static func isNegativeNumber(_ argument: String) -> Bool {
        argument.first == "-" && Double(argument)?.isFinite == true
    }

    private static func takesValue(_ option: String) -> Bool { option.hasPrefix("--") && !option.contains("=") }
}
