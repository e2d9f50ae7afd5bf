internal import ArgumentParser

/// `rtcshare completions`: the script that makes a shell complete this program's command line.
struct CompletionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a completion script for bash, zsh or fish.",
        discussion: #"""
            Tab then completes commands, options, files, the sources of this machine, and the names of running shares. Install
            the script once, then open a new shell:

                rtcshare completions bash \
                    > ~/.local/share/bash-completion/completions/rtcshare
                rtcshare completions zsh > ~/.zfunc/_rtcshare
                rtcshare completions fish \
                    > ~/.config/fish/completions/rtcshare.fish

            For bash, install the package bash-completion. For zsh, add fpath+=~/.zfunc before compinit in ~/.zshrc.
            """#)

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

    @Argument(help: "Your shell.") var shell: Shell

    func run() async throws {
        try await reportingFailure {
            try StandardStreams.writeData(ShellCompletion.script(for: shell.generated))
        }
    }
}
