internal import Glibc
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// A share without a screen and without a socket: the frames of a source go through a track, an encoder's thread and a
/// connected peer, in real time.
final class SteadyShare {
    /// The number of frames and packets, with their allocations.
    struct Counts {
        var frames = 0
        var packets = 0
        /// The number of allocations from a frame's bytes to its datagrams.
        var packetAllocations: UInt64 = 0
        /// The number of allocations of the process.
        var allocations: UInt64 = 0
    }

    private let source = PushVideoSource()
    private let track: VideoTrack
    private let thread: VideoEncoder
    private let stage: PacketStage
    private let content: SteadyContent
    private var index = 0

    init(_ content: SteadyContent) throws {
        let stage = PacketStage(try ConnectedPath())
        self.content = content
        self.stage = stage
        track = VideoTrack(id: "bench", source: source)
        thread = try VideoEncoder(
            .vp8, settings: .init(bitrate: .kilobitsPerSecond(4000), hint: .text),
            onFrame: { frame, _ in stage.send(frame) })
        thread.show(track)
    }

    deinit {
        thread.stop()
    }

    /// Sends frames for so long, and returns the counts.
    func run(seconds: Double) throws -> Counts {
        let start = monotonicNow()
        let before = stage.counts
        var due = start
        while due < start + .seconds(seconds) {
            sleep(until: due)
            if content.content != .still || index == 0 { source.capture(content.frame(index, timestamp: due)) }
            index += 1
            due += .seconds(content.content.interval ?? 0.1)
        }
        let after = stage.counts
        if let failure = stage.failure { throw failure }
        return Counts(
            frames: after.frames - before.frames, packets: after.packets - before.packets,
            packetAllocations: after.packetAllocations - before.packetAllocations,
            allocations: after.allocations - before.allocations)
    }

    private func sleep(until time: Duration) {
        let (seconds, attoseconds) = time.components
        var deadline = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) == EINTR {}
    }

    private func monotonicNow() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// Divides encoded frames into packets and sends them, on the encoder's thread.
private final class PacketStage: Sendable {
    private struct State {
        var counts = SteadyShare.Counts()
        var number = FrameNumber(1)
        var failure: (any Error)?
    }

    // Used only on the encoder's thread.
    private nonisolated(unsafe) let path: ConnectedPath
    private let state = Locked(State())

    init(_ path: ConnectedPath) {
        self.path = path
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The counts so far.
    var counts: SteadyShare.Counts {
        state.withLock { state in
            var counts = state.counts
            counts.allocations = AllocationCounter.count
            return counts
        }
    }

    func send(_ frame: EncodedVideoFrame) {
        let before = AllocationCounter.count
        let number = state.withLock { $0.number.takeNext() }
        let packets = PacketizedFrame(
            frame.data, format: .vp8, number: number, isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height)
        do {
            let sent = try path.send(packets)
            state.withLock { state in
                state.counts.frames += 1
                state.counts.packets += sent
                state.counts.packetAllocations += AllocationCounter.count - before
            }
        } catch {
            state.withLock { $0.failure = error }
        }
    }
}
