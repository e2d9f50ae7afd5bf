internal import ArgumentParser
internal import Foundation
internal import RTCShareCProcess

/// A share that runs for hours while everything about it changes.
struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Share for hours while viewers come and go and everything changes, and see that nothing grows.",
        discussion: """
            A room shares pictures and sound to three to six viewers, over real sockets of the loopback interface, with \
            everything real. The viewers are whole sessions that decode what comes; they live in a process of their own, \
            so that what sharing holds is seen apart. About every one and a half seconds something happens: a viewer \
            comes, says goodbye, vanishes without a word, is dismissed, moves between main room and subgroup, loses up \
            to 12 percent of its packets, loses all of them for seconds, asks for key frames, or has ICE restarted; or \
            source, output format, hint, bitrate, frame rate, volume or destination change, or the share pauses. What \
            happens, and when, follows from the seed.

            A viewer that the share goes to must see a new picture, and hear sound where there is some, within 10 \
            seconds after it came or anything changed, and at any time; one that the share does not go to sees nothing.

            At the beginning, every three minutes and at the end the share goes back to what it began with, and \
            everybody leaves: then no connection, session or timer may be left, and no more descriptors than the first \
            time. Memory is noted then too: in between it hangs on the sizes of pictures.

            Every five seconds memory, descriptors, threads and timers of both processes are noted. A line is fitted to \
            the second half of the run, with the number of viewers taken into account. What it rises by in that time, \
            less twice its standard error, may be 2 MiB, or 1 percent, of memory, and 0.5 of anything that is counted: \
            in a run of an hour that is 4 MiB, or 2 percent, an hour. Lines are judged from ten minutes on.

            Exits with 1 where something grows, is left behind, or was not seen.
            """)

    @Option(help: "How long, in hours; where everybody leaves, time stands still.")
    var hours = 1.0

    @Option(help: "Where randomness begins: what happens, when, and which packets are lost.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Write every sample as a line of JSON, while it runs.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Draw all of it.", valueName: "file"))
    var svg: String?

    @Flag(help: "Tell each action as it happens.")
    var verbose = false

    @Flag(help: "Tell what would happen, a line of JSON each, and do nothing.")
    var plan = false

    func validate() throws {
        guard hours >= 0.005, hours <= 1000 else { throw ValidationError("give 0.005 to 1000 hours") }
    }

    func run() async throws {
        // As the program does.
        memory_share_arenas()
        let duration = hours * 3600
        if plan {
            for step in SoakSchedule.steps(seed: seed, duration: duration) {
                try FileHandle.standardOutput.write(contentsOf: step.line)
            }
            return
        }
        Machine.raiseFileLimit()
        let samples = try json.map { try Self.created($0) }
        var said = 0.0
        let isVerbose = verbose
        let run = try await SoakRun(seed: seed, duration: duration) { event in
            switch event {
            case .action(let action, let time):
                if isVerbose { Self.say(String(format: "%8.1f ", time) + action.text) }
            case .sample(let sample):
                try samples?.write(contentsOf: sample.line)
                guard sample.time >= said else { return }
                said = sample.time + 60
                Self.say(Self.status(sample))
            case .ebb(let ebb):
                Self.say(String(format: "%8.1f everybody has left; ", ebb.time) + Self.text(ebb.sharing))
            case .failure(let failure): Self.say(SoakReport.line(failure))
            }
        }
        try await run.run()
        let report = SoakReport(seed: seed, record: run.record)
        if let svg { try Data(report.chart.svg.utf8).write(to: URL(fileURLWithPath: svg)) }
        print(report.table)
        if !report.passes { throw ExitCode(1) }
    }

    private static func created(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw ValidationError("can't write \(path)")
        }
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    private static func status(_ sample: SoakSample) -> String {
        String(format: "%8.1f %d viewers, %d connections; ", sample.time, sample.viewers, sample.connections)
            + text(sample.sharing) + "; \(sample.framesSent) sent, \(sample.picturesSeen) seen"
    }

    private static func text(_ census: ProcessCensus) -> String {
        String(
            format: "%.1f MiB, %.1f allocated, %d descriptors, %d threads, %d timers",
            Double(census.resident) / 1_048_576, Double(census.allocated) / 1_048_576, census.descriptors,
            census.threads, census.timers)
    }

    private static func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
