internal import ArgumentParser
internal import Foundation
internal import RTCShareWireFormat
internal import Synchronization

/// Plays the viewers of `rtcbench soak`.
struct SoakViewersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak-viewers", abstract: "The viewers of soak, which starts them itself.", shouldDisplay: false)

    @Option(help: "Where randomness begins: which packets are lost.")
    var seed: UInt64

    func run() async throws {
        let relay = SoakRelay(seed: seed)
        Thread { relay.run() }.start()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }.start()
        var viewers = SoakViewers(relay: relay)
        for await line in lines {
            let reply: SoakReply
            do {
                reply = try await viewers.obey(JSONDecoder().decode(SoakRequest.self, from: Data(line.utf8)))
            } catch {
                reply = .failed("\(error)")
            }
            try FileHandle.standardOutput.write(contentsOf: reply.line)
        }
    }
}

/// The viewers.
struct SoakViewers {
    private let relay: SoakRelay
    private var viewers: [Int: SoakViewer] = [:]

    /// The times for which the link of a former viewer is kept: its last packets pass, and the system does not report
    /// the end of a vanished one to the sharing process.
    private static let partingTime = Duration.seconds(1)
    private static let vanishedTime = Duration.seconds(45)

    init(relay: SoakRelay) {
        self.relay = relay
    }

    mutating func obey(_ command: SoakRequest) async throws -> SoakReply {
        switch command {
        case .join(let number, let offer, let loss):
            guard let port = offer.withCandidate(at: 0)?.former else { throw BenchmarkFailure("no candidate") }
            _ = try relay.open(viewer: number, sharerPort: port, loss: loss)
            let viewer = try await SoakViewer(number)
            viewers[number] = viewer
            return try await answer(viewer, offer)
        case .answer(let number, let offer): return try await answer(try viewer(number), offer)
        case .leave(let number):
            let viewer = try take(number)
            let relay = relay
            Task {
                await viewer.leave()
                try? await Task.sleep(for: Self.partingTime)
                relay.close(viewer: number)
            }
        case .vanish(let number):
            let viewer = try take(number)
            let relay = relay
            relay.silence(viewer: number, until: .distantFuture)
            Task {
                await viewer.leave()
                try? await Task.sleep(for: Self.vanishedTime)
                relay.close(viewer: number)
            }
        case .lose(let number, let share): relay.setLoss(share, viewer: number)
        case .outage(let number, let seconds):
            relay.silence(viewer: number, until: MonotonicTime.now.advanced(by: .seconds(seconds)))
        case .requestKeyFrame(let number): await (try viewer(number)).requestKeyFrame()
        case .report:
            var reports: [SoakViewerReport] = []
            for viewer in viewers.values { reports.append(await viewer.report()) }
            return .report(
                SoakAudienceReport(
                    census: await ProcessCensus.take(), picturesSeen: SoakSenses.picturesSeen.load(ordering: .relaxed),
                    paths: relay.count, viewers: reports))
        }
        return .done
    }

    private func viewer(_ number: Int) throws -> SoakViewer {
        guard let viewer = viewers[number] else { throw BenchmarkFailure("there is no viewer \(number)") }
        return viewer
    }

    private mutating func take(_ number: Int) throws -> SoakViewer {
        let viewer = try viewer(number)
        viewers[number] = nil
        return viewer
    }

    /// Replaces each end's address with the link's sockets.
    private func answer(_ viewer: SoakViewer, _ offer: String) async throws -> SoakReply {
        guard let far = relay.farPort(viewer: viewer.viewer), let relayed = offer.withCandidate(at: far) else {
            throw BenchmarkFailure("an offer without a candidate")
        }
        let answer = try await viewer.answer(relayed.description)
        guard let own = answer.withCandidate(at: 0)?.former,
            let near = relay.connect(viewer: viewer.viewer, port: own), let told = answer.withCandidate(at: near)
        else { throw BenchmarkFailure("an answer without a candidate") }
        return .answer(told.description)
    }
}
