internal import ArgumentParser
internal import Foundation
internal import RTCShareCProcess
internal import RTCShareContentShare
internal import RTCShareWireFormat

/// The cost of a share with many viewers.
struct FanoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Share to rooms of more and more viewers, over real sockets, on one processor or several.",
        discussion: """
            One stream of frames goes to every viewer over a connection of its own, with everything real: ICE, DTLS, \
            SRTP, pacing, congestion control with feedback ten times a second, reports each second, consent. All \
            connections of an event loop share one UDP port. The viewers are played by another process on another \
            processor: each has a socket of its own, connects, counts what comes and answers as viewers do; some decrypt \
            all of it and time frames from their being handed on to the last packet's arrival.

            The sending process keeps to one processor, or to as many as --processors says, with an event loop for each. \
            Its cost is its processor time, all threads and the kernel's part included: on the loopback interface that \
            has in it what the kernel does to deliver a packet.

            Frames are withheld from a connection that says that its queue is full, as where the processor is too slow for \
            the room; their share is told.

            The last room is measured once more with one viewer in it that neither hears nor says anything any more.

            After that the same frames are sent to the same viewers' sockets by a loop that does nothing but \
            libsrtp2's protect (OpenSSL's AES in it, as in a connection's), nothing but UDP, and both: what sending \
            can't cost less than.

            Memory is what the whole process has resident after giving back what it no longer uses, in the largest room \
            less in the smallest.

            With --share a room of the library shares moving pictures instead: each viewer has a session, and one encoder \
            makes the pictures, which is part of the cost. What is measured is that cost, how long a viewer takes to join, and \
            how long the room takes to list its viewers, which a program asks for each second.
            """)

    @Option(
        help: "How many viewers, room by room; rising. Default: 10,100,500,1500, and 1000 as the last with --share.")
    var viewers: String?

    @Flag(help: "Share by a room of the library, with its sessions and its encoder.")
    var share = false

    @Option(help: "Kilobits a second of the encoder's output.")
    var bitrate = 600

    @Option(help: "Seconds that each room is measured for.")
    var seconds = 8.0

    @Option(help: "Processors that the sending process keeps to.")
    var processors = 1

    @Option(help: "Where randomness begins: the sizes of frames.")
    var seed: UInt64 = 1

    @Flag(help: "Write the result as JSON.")
    var json = false

    private var rooms: [Int] {
        let viewers = viewers ?? (share ? "10,100,500,1000" : "10,100,500,1500")
        return viewers.split(separator: ",").compactMap { Int($0) }
    }

    func validate() throws {
        guard !rooms.isEmpty, rooms.allSatisfy({ $0 > 0 }), rooms == rooms.sorted() else {
            throw ValidationError("give rising numbers of viewers, such as 10,100,500,1500")
        }
        guard !share || rooms.allSatisfy({ $0 <= SharingRoom.maximumViewers }) else {
            throw ValidationError("a room has at most \(SharingRoom.maximumViewers) viewers")
        }
        guard (1...Machine.processorCount).contains(processors) else {
            throw ValidationError("this machine has \(Machine.processorCount) processors")
        }
        guard bitrate > 0, seconds >= 1 else { throw ValidationError("give a bitrate and at least one second") }
    }

    func run() async throws {
        Machine.raiseFileLimit()
        let crowd = try CrowdProcess(processor: Machine.processorCount - 1)
        Machine.pin(to: 0..<processors)
        if share { return try await runShare(crowd) }
        let room = try await FanoutRoom(crowd: crowd, kilobitsPerSecond: bitrate, eventLoops: processors)
        var frames = FanoutFrames(kilobitsPerSecond: bitrate, seed: seed)
        var stages: [FanoutReport.Stage] = []
        for count in rooms {
            try await room.grow(to: count, &frames)
            stages.append(try await measure(room, crowd, &frames))
            if let stage = stages.last { FileHandle.standardError.write(Data((stage.row + "\n").utf8)) }
        }
        // The same room with a viewer that neither receives nor answers: the others must receive the same, at the same
        // cost.
        try crowd.send(.unplug(index: 0))
        var withDead = try await measure(room, crowd, &frames)
        withDead.dead = 1
        FileHandle.standardError.write(Data((withDead.row + "\n").utf8))
        let floor = try await floor(of: room)
        await room.close()
        crowd.end()
        guard let first = stages.first, let last = stages.last else { return }
        let growth = Double(last.residentBytes - first.residentBytes) / Double(max(1, last.viewers - first.viewers))
        let report = FanoutReport(
            machine: MachineDescription().processor, kilobitsPerSecond: bitrate, seconds: seconds, stages: stages,
            withDead: withDead, floor: floor,
            bytesPerViewer: Int(growth), ratio: last.microsecondsPerPacket / floor.protectAndSend)
        try print(report, table: report.table)
    }

    private func print(_ report: some Encodable, table: String) throws {
        guard json else { return Swift.print(table) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        Swift.print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }

    private func runShare(_ crowd: CrowdProcess) async throws {
        let room = try await ShareFanout(crowd: crowd, kilobitsPerSecond: bitrate, eventLoops: processors)
        var stages: [ShareFanout.Stage] = []
        for count in rooms {
            try await room.grow(to: count)
            let stage = try await room.measure(seconds: seconds)
            stages.append(stage)
            FileHandle.standardError.write(Data((stage.row + "\n").utf8))
        }
        await room.close()
        crowd.end()
        let table = [ShareFanout.Stage.heading] + stages.map(\.row)
        try print(stages, table: table.joined(separator: "\n"))
    }

    /// The time in seconds before a room is measured: the estimators start, and memory is allocated once.
    private static let settling = 5.0

    private func measure(
        _ room: FanoutRoom, _ crowd: CrowdProcess, _ frames: inout FanoutFrames
    ) async throws -> FanoutReport.Stage {
        try await send(&frames, to: room, seconds: Self.settling)
        try crowd.send(.reset)
        _ = room.takeFramesWithheld()
        let clock = ContinuousClock()
        let (start, time) = (ProcessorTime.now, clock.now)
        try await send(&frames, to: room, seconds: seconds)
        let used = ProcessorTime.now - start
        let elapsed = (clock.now - time).seconds
        // For packets that are still under way.
        try await Task.sleep(for: .milliseconds(300))
        let counted = try crowd.report()
        let state = room.state
        // Without the memory that the C library keeps for later.
        memory_trim()
        let share = Double(used.total) / 1e9 / elapsed
        return FanoutReport.Stage(
            viewers: room.connections.count, processorShare: share,
            kernelShare: Double(used.kernel) / 1e9 / elapsed,
            viewersPerCore: Int(Double(room.connections.count) / share),
            packetsPerSecond: Int(Double(counted.packets) / elapsed),
            microsecondsPerPacket: Double(used.total) / 1e3 / Double(max(1, counted.packets)),
            packetsLost: counted.lost, packetsForged: counted.forged, delay50: counted.delay50,
            delay95: counted.delay95, delayMost: counted.delayMost, residentBytes: Machine.residentByteCount,
            connectionsFailed: state.failures,
            withheldShare: Double(room.takeFramesWithheld())
                / Double(room.connections.count * Int(seconds * Double(FanoutFrames.framesPerSecond))),
            leastTarget: state.leastTarget, viewersShare: counted.processorShare)
    }

    private func send(_ frames: inout FanoutFrames, to room: FanoutRoom, seconds: Double) async throws {
        let clock = ContinuousClock()
        var next = clock.now
        for _ in 0..<Int(seconds * Double(FanoutFrames.framesPerSecond)) {
            room.send(frames.next(isKeyFrame: false, now: MonotonicTime.now))
            next = next.advanced(by: .nanoseconds(1_000_000_000 / FanoutFrames.framesPerSecond))
            try await Task.sleep(until: next, clock: clock)
        }
    }

    private func floor(of room: FanoutRoom) async throws -> FanoutReport.Floor {
        let floor = try FanoutFloor(ports: room.ports)
        var times: [FanoutFloor.Work: Double] = [:]
        for work in FanoutFloor.Work.allCases {
            // Once to warm up.
            _ = try await floor.run(work, kilobitsPerSecond: bitrate, seconds: 0.2, seed: seed)
            times[work] =
                try await floor.run(work, kilobitsPerSecond: bitrate, seconds: max(2, seconds / 2), seed: seed) / 1000
        }
        return FanoutReport.Floor(
            protect: times[.protect] ?? 0, send: times[.send] ?? 0, protectAndSend: times[.protectAndSend] ?? 0,
            protectAndSendSegmented: times[.protectAndSendSegmented] ?? 0, refused: floor.refused)
    }
}

/// Plays the viewers of `rtcbench fanout`.
struct FanoutViewersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout-viewers", abstract: "The viewers of fanout, which starts them itself.",
        shouldDisplay: false)

    @Option(help: "The processor to run on.")
    var processor: Int

    func run() throws {
        Machine.raiseFileLimit()
        Machine.pin(to: processor..<processor + 1)
        try Crowd().run()
    }
}
