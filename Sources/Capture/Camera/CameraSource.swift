import RTCShareLocks
public import RTCShareMedia

/// Gives what a camera sees, by PipeWire: as it comes, as motion.
///
/// The camera can be changed at any time. One that goes, or gives nothing any more, is waited for: meanwhile the source is
/// muted, and observers are told (``CaptureInterruption/cameraAway(reason:)``); one that has given nothing at all ends
/// the source. While nobody takes its pictures the camera is let go.
///
/// Pictures are I420, of the format that comes nearest to what was asked for; where another program uses the camera
/// already, of the one that it has.
public final class CameraSource: CaptureSource, BroadcastingVideoSource {
    /// The size and rate of the camera that was opened first.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .motion)
    private let capture: CameraCapture
    private let thread = CaptureThread()

    /// Opens the camera of a name, PipeWire's or a part of the one for people, or else the first. In a sandbox the desktop
    /// asks its person first.
    public convenience init(
        named name: String? = nil, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(CameraDevice.find(name), size: size, framesPerSecond: framesPerSecond)
    }

    /// Opens a camera that was listed.
    public convenience init(
        _ device: CameraDevice, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(device, size: size, framesPerSecond: framesPerSecond, access: CameraAccess.find())
    }

    init(
        _ device: CameraDevice, size: PixelSize, framesPerSecond: Double, access: CameraAccess
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        let wanted = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        capture = CameraCapture(device, as: wanted, by: access, to: broadcaster)
        let format = capture.state.withLock { $0.format }
        captureFormat = CaptureFormat(
            size: CameraPictures.size(of: format),
            framesPerSecond: format.framesPerSecond > 0
                ? min(max(format.framesPerSecond, CaptureFormat.frameRates.lowerBound), framesPerSecond)
                : framesPerSecond)
    }

    /// The camera that is used, or will be.
    public var device: CameraDevice { capture.state.withLock { $0.device } }

    /// What it gives, or is asked for.
    public var format: CameraFormat { capture.state.withLock { $0.format } }

    /// Uses another camera from now on, in the format that comes nearest to what was asked for at first. A light that is on
    /// goes on there where there is one.
    public func use(_ device: CameraDevice) {
        let formats = capture.wanted.formats(of: device)
        capture.state.withLock { $0.use(device, formats) }
    }

    /// Uses another format of the camera, at its highest rate: one of its ``CameraDevice/formats``.
    public func use(_ format: CameraFormat) {
        let first = format.at(framesPerSecond: format.framesPerSecond)
        let wanted = capture.wanted
        capture.state.withLock { $0.use($0.device, [first] + wanted.formats(of: $0.device)) }
    }

    /// Uses the next of the cameras that there are, after the last the first.
    public func switchCamera() throws(CaptureError) {
        let cameras = try CameraRegistry(capture.access).devices()
        guard !cameras.isEmpty else { throw .unknownCamera(name: nil, cameras: []) }
        let name = device.name
        let place = cameras.firstIndex { $0.name == name } ?? -1
        use(cameras[(place + 1) % cameras.count])
    }

    /// Whether the camera has a light that can be switched.
    public var isTorchAvailable: Bool { device.hasTorch }

    /// Whether the camera's light is on, or will be from when the source gives pictures.
    public var isTorchEnabled: Bool { capture.state.withLock { $0.isTorchEnabled && $0.device.hasTorch } }

    /// Switches the camera's light; before the source gives pictures, from then on.
    /// - Throws: ``CaptureError/torchUnavailable(camera:reason:)`` where it has none, or refuses.
    public func setTorch(_ isEnabled: Bool) throws(CaptureError) {
        let (device, isRunning) = capture.state.withLock { ($0.device, $0.isRunning) }
        guard device.hasTorch || !isEnabled else {
            throw .torchUnavailable(camera: device.description, reason: nil)
        }
        if isRunning, device.hasTorch { try CameraRegistry(capture.access).setTorch(isEnabled, of: device) }
        capture.state.withLock { $0.isTorchEnabled = isEnabled }
    }

    /// Begins to give frames.
    public func start() throws {
        let capture = capture
        let size = captureFormat.size
        try thread.start { signal in
            capture.broadcaster.run(until: signal) { () throws(CaptureError) in
                try capture.run(until: signal, size: size)
            }
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}

/// Which camera is used, and how.
struct CameraState {
    private(set) var device: CameraDevice
    /// From the one on that is wanted most.
    private(set) var formats: [CameraFormat]
    /// What it gives, or the first of those.
    private(set) var format: CameraFormat
    /// Counts the choices.
    private(set) var generation = 0
    var isTorchEnabled = false
    /// Whether it is being used now.
    var isRunning = false

    init(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats, format) = (device, formats, formats[0])
    }

    /// Another choice.
    mutating func use(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats, format) = (device, formats, formats[0])
        generation += 1
    }

    /// The same camera, as it was found now.
    mutating func found(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats) = (device, formats)
    }

    /// It gives pictures of this format.
    mutating func gives(_ format: CameraFormat) { self.format = format }
}

extension CaptureFormat {
    /// A camera's formats, from the one on that comes nearest: that one at the rate that does.
    func formats(of device: CameraDevice) -> [CameraFormat] {
        let formats = device.formats(nearestTo: size, framesPerSecond: framesPerSecond)
        return [formats[0].at(framesPerSecond: framesPerSecond)] + formats
    }
}
