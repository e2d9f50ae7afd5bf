import RTCShareLocks
import RTCShareMedia
import RTCShareWireFormat

/// The work of a camera's thread: it captures frames of the chosen camera, and waits for a camera that disappears.
///
///              the stream is connected             a first frame
///     looking ─────────────────────────▶ opening ───────────────────▶ running
///        ▲        it has returned          │ fails                      │ fails, or stops
///        └────────────────── away ◀─────────┴────────────────────────────┘
///                                    (the end, if there was never a frame)
final class CameraCapture: Sendable {
    let access: CameraAccess
    /// The camera in use, with its format.
    let state: Locked<CameraState>
    let wanted: CaptureFormat
    let broadcaster: VideoBroadcaster

    /// The interval at which the thread checks whether another camera was chosen.
    private static let interval = Duration.milliseconds(100)
    /// The timeout for a camera's first frame, and for each next one.
    private static let patience = Duration.seconds(10)
    /// The time for which a camera runs without a sink.
    private static let linger = Duration.seconds(2)
    /// The delay before a retry after a connected camera has failed.
    private static let retryInterval = Duration.seconds(2)

    init(_ device: CameraDevice, as wanted: CaptureFormat, by access: CameraAccess, to broadcaster: VideoBroadcaster) {
        (self.access, self.wanted, self.broadcaster) = (access, wanted, broadcaster)
        state = Locked(CameraState(device, wanted.formats(of: device)))
    }

    /// Sends frames until the signal is raised, and reports sizes other than `size`. Throws if there is no frame from
    /// the beginning.
    func run(until signal: StopSignal, size: PixelSize) throws(CaptureError) {
        var reporter = CaptureReporter(broadcaster: broadcaster, size: size)
        // Later frames, after the end or after another start, must not be muted.
        defer { reporter.setMuted(false) }
        var hasGiven = false
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        while !signal.isRaised {
            signal.rest { !broadcaster.hasSinks }
            if signal.isRaised { return }
            let chosen = state.withLock { $0 }
            do throws(NodeStream.Failure) {
                try give(chosen, until: signal) { size in
                    hasGiven = true
                    reporter.setMuted(false)
                    reporter.report(nil, size: size, now: monotonicNow())
                }
            } catch {
                guard hasGiven else { throw .cameraLost(camera: chosen.device.description, reason: error.reason) }
                reporter.setMuted(true)
                let reason = "the camera '\(chosen.device.description)' gives nothing: \(error.reason)"
                reporter.report(.cameraUnavailable(reason: reason), size: nil, now: monotonicNow())
                awaitReturn(of: chosen, until: signal)
            }
        }
    }

    // MARK: Frames

    /// Uses a camera until another is chosen, or it has no sinks. `gave` is called with the size of each frame.
    private func give(
        _ chosen: CameraState, until signal: StopSignal, gave: (PixelSize) -> Void
    ) throws(NodeStream.Failure) {
        let (stream, device) = try open(chosen)
        // The light may have been requested while the camera was opened.
        let isLit = state.withLock { state in
            state.isRunning = true
            return state.isTorchEnabled
        }
        defer { leave(device) }
        if isLit { try? CameraRegistry(access).setTorch(true, of: device) }
        var pictures: CameraPictures?
        let begin = monotonicNow()
        var (lastPicture, lastWanted) = (begin, begin)
        while !signal.isRaised, state.withLock({ $0.generation == chosen.generation }) {
            try stream.acknowledge()
            var newest: NodePicture?
            while let picture = stream.take() { newest = picture }
            let now = monotonicNow()
            if broadcaster.hasSinks { lastWanted = now }
            guard now - lastWanted < Self.linger else { return }
            if let newest, let format = newest.cameraFormat {
                lastPicture = now
                let maker = pictures.flatMap { $0.format == format ? $0 : nil } ?? CameraPictures(format)
                if pictures?.format != format { state.withLock { $0.gives(format) } }
                pictures = maker
                gave(maker.size)
                if broadcaster.demand > .nothing { try send(newest, maker) }
            }
            newest = nil
            guard monotonicNow() - lastPicture < Self.patience else {
                throw NodeStream.Failure(reason: "it sent no frame within \(Self.patience.components.seconds) seconds")
            }
            _ = signal.wait(readable: stream.descriptor, until: monotonicNow() + Self.interval)
        }
    }

    /// Connects to the camera, which has another number if it was unplugged in between.
    private func open(_ chosen: CameraState) throws(NodeStream.Failure) -> (NodeStream, CameraDevice) {
        do throws(CaptureError) {
            guard let device = try CameraRegistry(access).devices().first(where: { $0.name == chosen.device.name })
            else { throw .unknownCamera(name: chosen.device.name, cameras: []) }
            let formats = device.formats == chosen.device.formats ? chosen.formats : wanted.formats(of: device)
            state.withLock { if $0.generation == chosen.generation { $0.found(device, formats) } }
            return (try stream(of: device, formats), device)
        } catch {
            if case .unknownCamera = error { throw NodeStream.Failure(reason: "it is disconnected") }
            throw NodeStream.Failure(reason: error.explanation.statement)
        }
    }

    private func stream(of device: CameraDevice, _ formats: [CameraFormat]) throws(CaptureError) -> NodeStream {
        let remote = try access.openRemote()
        do throws(NodeStream.Failure) {
            return try NodeStream(camera: device.node, formats, remote: remote)
        } catch {
            throw .cameraLost(camera: device.description, reason: error.reason)
        }
    }

    private func leave(_ device: CameraDevice) {
        let wasLit = state.withLock { state in
            state.isRunning = false
            return state.isTorchEnabled && device.hasTorch
        }
        // A removed camera has no light.
        if wasLit { try? CameraRegistry(access).setTorch(false, of: device) }
    }

    private func send(_ taken: NodePicture, _ pictures: CameraPictures) throws(NodeStream.Failure) {
        do throws(CaptureError) {
            let picture = try taken.withMemory { () throws(CaptureError) in
                try taken.bytes.flatMap { (bytes, stride) throws(CaptureError) in
                    try pictures.picture(of: bytes, stride: stride)
                }
            }
            if let picture = picture.flatMap({ $0 }) {
                broadcaster.send(
                    VideoFrame(buffer: picture, timestamp: monotonicNow(), rotation: taken.content.turn.rotation))
            } else {
                broadcaster.observers.didRefuse(CaptureError.unreadablePicture)
            }
        } catch {
            throw NodeStream.Failure(reason: error.explanation.statement)
        }
    }

    // MARK: Waiting

    /// Waits until a retry with the camera makes sense, another was chosen, or the signal is raised.
    private func awaitReturn(of chosen: CameraState, until signal: StopSignal) {
        let retry = monotonicNow() + Self.retryInterval
        var registry: CameraRegistry?
        while !signal.isRaised, state.withLock({ $0.generation == chosen.generation }) {
            registry = registry ?? (try? CameraRegistry(access))
            do throws(CaptureError) {
                let found = try registry?.update()?.first { $0.name == chosen.device.name }
                // A camera with another number has returned; one that was never removed may be available by now.
                if let found, found.node != chosen.device.node || monotonicNow() > retry { return }
            } catch {
                // PipeWire itself is not running, and may return.
                registry = nil
            }
            _ = signal.wait(readable: registry?.descriptor ?? -1, until: monotonicNow() + Self.interval)
        }
    }
}
