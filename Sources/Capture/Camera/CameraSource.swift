import RTCShareLocks
public import RTCShareMedia

/// Gives what a camera sees, by PipeWire: as it comes, as motion.
///
/// The camera can be changed at any time; a camera that goes ends the source. Its pictures are I420, of the format that comes
/// nearest to what was asked for.
public final class CameraSource: CaptureSource, BroadcastingVideoSource {
    /// The size and rate of the camera that was opened first.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .motion)
    private let wanted: CaptureFormat
    private let choice: CameraChoice
    private let thread = CaptureThread()

    /// Opens the camera of a name, PipeWire's or a part of the one for people, or else the first.
    public convenience init(
        named name: String? = nil, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(CameraDevice.find(name), size: size, framesPerSecond: framesPerSecond)
    }

    /// Opens a camera that was listed.
    public init(
        _ device: CameraDevice, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        let format = device.format(nearestTo: size, framesPerSecond: framesPerSecond)
        wanted = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        let rate = format.framesPerSecond > 0 ? min(format.framesPerSecond, framesPerSecond) : framesPerSecond
        captureFormat = CaptureFormat(size: CameraPictures(format).size, framesPerSecond: rate)
        choice = CameraChoice(device, format)
    }

    /// The camera that is used, or will be.
    public var device: CameraDevice { choice.current.device }

    /// What it gives.
    public var format: CameraFormat { choice.current.format }

    /// Uses another camera from now on, in the format that comes nearest to what was asked for at first.
    public func use(_ device: CameraDevice) {
        choice.set(device, device.format(nearestTo: wanted.size, framesPerSecond: wanted.framesPerSecond))
    }

    /// Uses another format of the camera: one of its ``CameraDevice/formats``.
    public func use(_ format: CameraFormat) { choice.set(device, format) }

    /// Uses the next of the cameras that there are, after the last the first.
    public func switchCamera() throws(CaptureError) {
        let cameras = try CameraDevice.all()
        guard !cameras.isEmpty else { throw .unknownCamera(name: nil, cameras: []) }
        let name = device.name
        let place = cameras.firstIndex { $0.name == name } ?? -1
        use(cameras[(place + 1) % cameras.count])
    }

    /// Whether the camera's light is on.
    public var isTorchEnabled: Bool { false }

    /// Switches the camera's light. PipeWire has no control for one, so that no camera has it here.
    public func setTorch(_ isEnabled: Bool) throws(CaptureError) {
        if isEnabled { throw .torchUnavailable(camera: device.description) }
    }

    /// Begins to give frames.
    public func start() throws {
        let run = Run(choice: choice, broadcaster: broadcaster, size: captureFormat.size)
        try thread.start { signal in
            run.broadcaster.run(until: signal) { () throws(CaptureError) in try run.run(until: signal) }
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}

/// Which camera is used, and how.
private final class CameraChoice: Sendable {
    struct Value {
        var device: CameraDevice
        var format: CameraFormat
        /// Counts the choices.
        var generation = 0
    }

    private let value: Locked<Value>

    init(_ device: CameraDevice, _ format: CameraFormat) {
        value = Locked(Value(device: device, format: format))
    }

    var current: Value { value.withLock { $0 } }

    func set(_ device: CameraDevice, _ format: CameraFormat) {
        value.withLock { $0 = Value(device: device, format: format, generation: $0.generation + 1) }
    }
}

/// What a camera's thread does: it takes pictures of the camera that is chosen, one camera after the other.
private struct Run: Sendable {
    let choice: CameraChoice
    let broadcaster: VideoBroadcaster
    let size: PixelSize

    /// How often is looked whether another camera was chosen.
    private static let interval = Duration.milliseconds(100)
    /// A camera gives its first picture within this time.
    private static let patience = Duration.seconds(10)

    func run(until signal: StopSignal) throws(CaptureError) {
        var size = size
        while !signal.isRaised {
            let current = choice.current
            let (device, format) = (current.device, current.format)
            let stream: NodeStream
            do throws(NodeStream.Failure) {
                // One that was unplugged and is back has another number.
                let node = try? CameraDevice.all().first { $0.name == device.name }?.node
                stream = try NodeStream(camera: node ?? device.node, format)
            } catch {
                throw .cameraLost(camera: device.description, reason: error.reason)
            }
            let pictures = CameraPictures(format)
            if pictures.size != size {
                size = pictures.size
                broadcaster.observers.sizeDidChange(to: size)
            }
            do throws(NodeStream.Failure) {
                try give(pictures, of: stream, until: signal) { choice.current.generation != current.generation }
            } catch {
                throw .cameraLost(camera: device.description, reason: error.reason)
            }
        }
    }

    private func give(
        _ pictures: CameraPictures, of stream: NodeStream, until signal: StopSignal, unless isOver: () -> Bool
    ) throws(NodeStream.Failure) {
        var deadline: Duration? = monotonicNow() + Self.patience
        while !signal.isRaised, !isOver() {
            try stream.takeNote()
            var newest: NodePicture?
            while let picture = stream.take() { newest = picture }
            if let newest, broadcaster.demand > .nothing { try give(newest, pictures) }
            if newest != nil { deadline = nil }
            newest = nil
            if let deadline, monotonicNow() > deadline {
                throw NodeStream.Failure(reason: "it gave no picture within \(Self.patience.components.seconds) s")
            }
            _ = signal.wait(readable: stream.descriptor, until: monotonicNow() + Self.interval)
        }
    }

    private func give(_ taken: NodePicture, _ pictures: CameraPictures) throws(NodeStream.Failure) {
        do throws(CaptureError) {
            let picture = try taken.withMemory { () throws(CaptureError) in
                try taken.bytes.flatMap { (bytes, stride) throws(CaptureError) in
                    try pictures.picture(of: bytes, stride: stride)
                }
            }
            if let picture = picture.flatMap({ $0 }) {
                broadcaster.send(VideoFrame(buffer: picture, timestamp: monotonicNow()))
            } else {
                broadcaster.observers.didRefuse(CaptureError.unreadablePicture)
            }
        } catch {
            throw NodeStream.Failure(reason: error.description)
        }
    }
}
