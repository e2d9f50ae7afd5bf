import Foundation
import Glibc
import RTCShareLocks
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import rtcshare

@Suite("Statistics files", .timeLimit(.minutes(1)))
struct StatisticsWriterTests {
    /// A member that is larger than the buffer of a pipe.
    private struct Padding: Encodable, Sendable {
        var padding = String(repeating: "x", count: 1 << 20)
    }

    private static func report(_ number: Int, isLong: Bool = false) -> StatisticsReport {
        var report = StatisticsReport(timestamp: Double(number))
        let playout = MediaPlayoutStats(sound: 1, samples: 0, delay: .zero, breaks: 0)
        report.mediaPlayouts = [playout]
        if isLong { report.add(Padding(), to: playout.id) }
        return report
    }

    private static func numbers(in text: Data) throws -> [Int] {
        try text.split(separator: UInt8(ascii: "\n")).map { line in
            let objects = try #require(try JSONSerialization.jsonObject(with: line) as? [[String: Any]])
            return Int(try #require(objects.first?["timestamp"] as? Double))
        }
    }

    @Test("All reports are in the closed file, in their order")
    func file() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("reports").path
        let writer = try StatisticsWriter(path: path, activity: "the test")
        writer.write([Self.report(1), Self.report(2)])
        writer.write([Self.report(3)])
        try await writer.close()
        #expect(try Self.numbers(in: Data(contentsOf: URL(filePath: path))) == [1, 2, 3])
    }

    @Test("Statistics that can't be written are reported once, and fail when they are closed")
    func fullDisk() async throws {
        let said = Locked<[String]>([])
        let writer = try StatisticsWriter(path: "/dev/full", activity: "the test") { line in
            said.withLock { $0.append(line) }
        }
        for number in 1...3 { writer.write([Self.report(number)]) }
        let failure = await #expect(throws: CommandFailure.self) { try await writer.close() }
        #expect(failure?.message == "can't write statistics to /dev/full: the disk is full")
        let introduction = "Warning: the statistics have ended, and the test continues: "
        #expect(said.withLock { $0 } == [introduction + "can't write statistics to /dev/full: the disk is full."])
    }

    @Test("A full pipe delays no caller, and the oldest reports are dropped, which is reported once")
    func slowPipe() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("pipe").path
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let said = Locked<[String]>([])
        let writer = try StatisticsWriter(path: path, activity: "the test") { line in
            said.withLock { $0.append(line) }
        }
        writer.write([Self.report(0, isLong: true)])
        var ready = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, 30_000) == 1, "the first report is being written")
        let surplus = 3
        for number in 1...StatisticsWriter.limit + surplus { writer.write([Self.report(number)]) }
        #expect(said.withLock { $0.count } == 1)
        _ = fcntl(reader, F_SETFL, 0)
        async let text = WorkerThread.run(named: "reader") {
            FileHandle(fileDescriptor: reader, closeOnDealloc: true).readDataToEndOfFile()
        }
        try await writer.close()
        #expect(try Self.numbers(in: await text) == [0] + (1...StatisticsWriter.limit).map { $0 + surplus })
        #expect(said.withLock { $0.count } == 1)
    }
}
