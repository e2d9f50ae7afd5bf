internal import ArgumentParser

@main
struct RTCBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rtcbench",
        abstract: "Measure what sending costs, beside what it can't cost less than.",
        discussion:
            "Build with -c release. Figures of one run are compared with each other; machines differ and drift.",
        subcommands: [
            AllocationsCommand.self, CameraCommand.self, ConnectCommand.self, EncodeCommand.self, FanoutCommand.self,
            FanoutViewersCommand.self, LatencyCommand.self, LinkCommand.self, NetworkCommand.self,
            PacketsCommand.self, PathCommand.self, RivalsCommand.self, SoakCommand.self, SoakViewersCommand.self,
            ViewerCommand.self, WaylandCommand.self,
        ])
}
