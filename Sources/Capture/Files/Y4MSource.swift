import RTCShareLocks
public import RTCShareMedia

/// Gives the frames of a y4m file at the file's rate, or those of standard input as they arrive, and ends with the last.
///
/// A file begins with the first sink, and rests where it is while it has none. Standard input is read all the same. A sink
/// that comes between two frames is given the newest at once.
public final class Y4MSource: CaptureSource, BroadcastingVideoSource {
    /// The pictures' size, odd last rows and columns left out, and the rate that the header names.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let thread = CaptureThread()
    private let mode: Mode
    private let slot: ReaderSlot

    /// Where the reader is between two runs: the thread takes it out while it runs.
    private final class ReaderSlot: Sendable {
        private let reader: Locked<Y4MReader?>

        init(_ reader: Y4MReader) {
            self.reader = Locked(reader)
        }

        func take() -> Y4MReader? { reader.withLock { $0.take() } }
        func give(_ reader: Y4MReader) { self.reader.withLock { $0 = reader } }
    }

    enum Mode: Sendable, Hashable {
        case paced(loop: Bool)
        case asItArrives
    }

    /// A file, shared once or, with `loop`, again and again. Started anew after a stop, it begins at its first frame.
    public convenience init(path: String, loop: Bool = false) throws(CaptureError) {
        try self.init(input: try FileInput(path: path), path: path, mode: .paced(loop: loop))
    }

    /// y4m on standard input, each frame given when it has arrived, without regard to the header's rate. Waits for
    /// the header. What was not read when it was stopped stays there for the next start.
    public static func standardInput() throws(CaptureError) -> Y4MSource {
        try descriptor(0, path: "standard input")
    }

    static func descriptor(_ descriptor: Int32, path: String) throws(CaptureError) -> Y4MSource {
        try Y4MSource(input: FileInput(borrowing: descriptor, path: path), path: path, mode: .asItArrives)
    }

    init(input: any ByteInput, path: String, mode: Mode) throws(CaptureError) {
        let reader = try Y4MReader(input: input, path: path)
        if mode == .paced(loop: true) {
            // Better said now than when the first round has ended.
            var probe = reader
            guard probe.rewind() else {
                throw .unrepeatableFile(path: path)
            }
        }
        captureFormat = CaptureFormat(size: reader.size, framesPerSecond: reader.header.framesPerSecond)
        self.mode = mode
        slot = ReaderSlot(reader)
    }

    /// Begins to give frames.
    public func start() throws {
        let (broadcaster, mode, format, slot) = (broadcaster, mode, captureFormat, slot)
        try thread.start { signal in
            guard var reader = slot.take() else { return }
            broadcaster.start()
            broadcaster.whenWanted { [weak signal] in signal?.wake() }
            var failure: CaptureError?
            do throws(CaptureError) {
                switch mode {
                case .paced(let loop):
                    // A file that cannot be rewound, a pipe by name, goes on where it was.
                    _ = reader.rewind()
                    try Self.pace(&reader, loop: loop, format: format, signal: signal, to: broadcaster)
                case .asItArrives:
                    try Self.relay(&reader, signal: signal, to: broadcaster)
                }
            } catch {
                failure = error
            }
            slot.give(reader)
            signal.finish()
            broadcaster.end(error: failure)
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }

    private static func pace(
        _ reader: inout Y4MReader, loop: Bool, format: CaptureFormat, signal: StopSignal,
        to broadcaster: VideoBroadcaster
    ) throws(CaptureError) {
        let pool = FramePool()
        var newest = NewestPicture(of: broadcaster)
        var schedule = TickSchedule(start: monotonicNow(), framesPerSecond: format.framesPerSecond)
        var tick = 0
        var isFirstOfRound = true
        func restWithoutSinks() {
            guard !broadcaster.hasSinks else { return }
            signal.rest { !broadcaster.hasSinks }
            schedule = TickSchedule(start: monotonicNow(), framesPerSecond: format.framesPerSecond)
            tick = 0
        }
        while !signal.isRaised {
            // Before the end is found, too: nobody would be told of it.
            restWithoutSinks()
            guard let buffer = try reader.next(from: pool, signal: signal, whileSilent: newest.sendAgainIfAwaited)
            else {
                // A file without a single frame would otherwise be rewound for ever.
                guard loop, !isFirstOfRound, !signal.isRaised, reader.rewind() else { return }
                isFirstOfRound = true
                continue
            }
            isFirstOfRound = false
            let now = monotonicNow()
            if now > schedule.deadline(tick + Int(format.framesPerSecond.rounded(.up))) {
                // A second late: the file comes from something slow. Go on from here and leave no frame out.
                schedule = TickSchedule(start: now, framesPerSecond: format.framesPerSecond)
                tick = 0
            }
            guard newest.wait(until: schedule.deadline(tick), signal: signal) else { return }
            restWithoutSinks()
            if signal.isRaised { return }
            newest.send(VideoFrame(buffer: buffer, timestamp: schedule.deadline(tick)))
            tick += 1
        }
    }

    private static func relay(
        _ reader: inout Y4MReader, signal: StopSignal, to broadcaster: VideoBroadcaster
    ) throws(CaptureError) {
        let pool = FramePool()
        var newest = NewestPicture(of: broadcaster)
        while let buffer = try reader.next(from: pool, signal: signal, whileSilent: newest.sendAgainIfAwaited) {
            newest.send(VideoFrame(buffer: buffer, timestamp: monotonicNow()))
        }
    }
}
