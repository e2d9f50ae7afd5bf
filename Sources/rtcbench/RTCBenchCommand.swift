internal import ArgumentParser

@main
struct RTCBenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rtcbench",
        abstract: "Measure what sending costs, beside what it can't cost less than.",
        discussion:
            "Build with -c release. Figures of one run are compared with each other; machines differ and drift.",
        subcommands: [NetworkCommand.self, PacketsCommand.self])
}
