internal import ArgumentParser

/// `rtcshare completions`: the script that has a shell complete this program's command line.
struct CompletionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the script that has your shell complete rtcshare's commands and options.",
        discussion: """
            With it, Tab completes commands, options and files, what --source and --audio can share on this machine \
            (outputs, windows, sound devices), and after --name the shares that run. Once, then in every new shell:

                rtcshare completions bash > ~/.local/share/bash-completion/completions/rtcshare
                rtcshare completions zsh > ~/.zfunc/_rtcshare
                rtcshare completions fish > ~/.config/fish/completions/rtcshare.fish

            bash looks there where the package bash-completion is installed; zsh in the folders of $fpath: \
            fpath+=~/.zfunc before compinit in ~/.zshrc.
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        /// The parser's name for it.
        var generated: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "The shell.") var shell: Shell

    func run() async throws {
        try await reportingFailure {
            try StandardStreams.writeData(ShellCompletion.script(for: shell.generated))
        }
    }
}
