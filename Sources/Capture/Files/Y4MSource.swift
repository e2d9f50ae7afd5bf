import RTCShareLocks
public import RTCShareMedia

/// Plays the frames of a y4m file at the file's rate, or those of standard input as they arrive, and ends with the
/// last.
///
/// A file starts with the first sink, and pauses while it has none. Standard input is read anyway. A sink that is added
/// between two frames receives the newest at once.
public final class Y4MSource: CaptureSource, BroadcastingVideoSource {
    /// The frames' size, without odd last rows and columns, and the rate in the header.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let thread = CaptureThread()
    private let mode: Mode
    private let slot: ReaderSlot

    /// The storage of the reader between two runs: the thread takes it while it runs.
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

    /// Opens a file, which is shared once or, with `loop`, repeatedly. A restart begins at the first frame.
    public convenience init(path: String, loop: Bool = false) throws(CaptureError) {
        try self.init(input: try FileInput(path: path), path: path, mode: .paced(loop: loop))
    }

    /// Opens y4m on standard input: each frame is sent when it has arrived, without regard to the header's rate. Waits
    /// for the header. Unread input remains for the next start.
    public static func standardInput() throws(CaptureError) -> Y4MSource {
        try descriptor(0, path: "standard input")
    }

    static func descriptor(_ descriptor: Int32, path: String) throws(CaptureError) -> Y4MSource {
        try Y4MSource(input: FileInput(borrowing: descriptor, path: path), path: path, mode: .asItArrives)
    }

    init(input: any ByteInput, path: String, mode: Mode) throws(CaptureError) {
        let reader = try Y4MReader(input: input, path: path)
        if mode == .paced(loop: true) {
            // Fails now instead of after the first round.
            var probe = reader
            guard probe.rewind() else {
                throw .unrepeatableFile(path: path)
            }
        }
        captureFormat = CaptureFormat(size: reader.size, framesPerSecond: reader.header.framesPerSecond)
        self.mode = mode
        slot = ReaderSlot(reader)
    }

    /// Starts the delivery of frames.
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
                    // A file that can't be rewound, such as a named pipe, continues from its position.
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

    /// Stops the source and notifies the sinks.
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
            // Before the end is detected, too: without sinks, nobody would be notified of it.
            restWithoutSinks()
            guard let buffer = try reader.next(from: pool, signal: signal, whileSilent: newest.sendAgainIfAwaited)
            else {
                // A file without any frame would otherwise be rewound forever.
                guard loop, !isFirstOfRound, !signal.isRaised, reader.rewind() else { return }
                isFirstOfRound = true
                continue
            }
            isFirstOfRound = false
            let now = monotonicNow()
            if now > schedule.deadline(tick + Int(format.framesPerSecond.rounded(.up))) {
                // More than a second late: the file is on a slow device. Continue from here and skip no frame.
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
