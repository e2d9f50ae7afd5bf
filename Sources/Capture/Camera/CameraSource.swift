internal import RTCShareLocks
public import RTCShareMedia

/// Captures the video of a camera through PipeWire, with the content hint `motion`.
///
/// You can change the camera at any time. If a camera disappears or stops, the source waits for it: it is muted until
/// then, and notifies observers (``CaptureInterruption/cameraUnavailable(reason:)``). If a camera has never sent a
/// frame, the source ends. While the source has no sinks, it releases the camera.
///
/// Frames are I420, in the format that is nearest to the requested one. If another program uses the camera already,
/// they are in its current format.
public final class CameraSource: CaptureSource, BroadcastingVideoSource {
    /// The size and rate of the first camera.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .motion)
    private let capture: CameraCapture
    private let thread = CaptureThread()

    /// Opens the camera with this name (PipeWire's name, or a part of the name for people), or the first. In a sandbox
    /// the desktop asks the user first.
    public convenience init(
        named name: String? = nil, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try self.init(CameraDevice.find(name), size: size, framesPerSecond: framesPerSecond)
    }

    /// Opens a listed camera.
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

    /// The current camera.
    public var device: CameraDevice { capture.state.withLock { $0.device } }

    /// The camera's current or requested format.
    public var format: CameraFormat { capture.state.withLock { $0.format } }

    /// Changes to another camera, in its format that is nearest to the one requested at first. A light that is on is
    /// switched on there, too, if there is one.
    public func use(_ device: CameraDevice) {
        let formats = capture.wanted.formats(of: device)
        capture.state.withLock { $0.use(device, formats) }
    }

    /// Changes to another format of the camera, at its highest rate: one of its ``CameraDevice/formats``.
    public func use(_ format: CameraFormat) {
        let first = format.at(framesPerSecond: format.framesPerSecond)
        let wanted = capture.wanted
        capture.state.withLock { $0.use($0.device, [first] + wanted.formats(of: $0.device)) }
    }

    /// Changes to the next of the connected cameras, after the last to the first.
    public func switchCamera() throws(CaptureError) {
        let cameras = try CameraRegistry(capture.access).devices()
        guard !cameras.isEmpty else { throw .unknownCamera(name: nil, cameras: []) }
        let name = device.name
        let place = cameras.firstIndex { $0.name == name } ?? -1
        use(cameras[(place + 1) % cameras.count])
    }

    /// Whether the camera has a light that can be switched.
    public var isTorchAvailable: Bool { device.hasTorch }

    /// Whether the camera's light is on, or will be when the source starts.
    public var isTorchEnabled: Bool { capture.state.withLock { $0.isTorchEnabled && $0.device.hasTorch } }

    /// Switches the camera's light, or sets its state for the start of the source.
    /// - Throws: ``CaptureError/torchUnavailable(camera:reason:)`` if the camera has no light, or the request fails.
    public func setTorch(_ isEnabled: Bool) throws(CaptureError) {
        let (device, isRunning) = capture.state.withLock { ($0.device, $0.isRunning) }
        guard device.hasTorch || !isEnabled else {
            throw .torchUnavailable(camera: device.description, reason: nil)
        }
        if isRunning, device.hasTorch { try CameraRegistry(capture.access).setTorch(isEnabled, of: device) }
        capture.state.withLock { $0.isTorchEnabled = isEnabled }
    }

    /// Starts the delivery of frames.
    public func start() throws {
        let capture = capture
        let size = captureFormat.size
        try thread.start { signal in
            capture.broadcaster.run(until: signal) { () throws(CaptureError) in
                try capture.run(until: signal, size: size)
            }
        }
    }

    /// Stops capture and notifies the sinks.
    public func stop() { thread.stop() }
}

extension CaptureFormat {
    /// Returns a camera's formats in order of preference, the first one at the nearest rate.
    func formats(of device: CameraDevice) -> [CameraFormat] {
        let formats = device.formats(nearestTo: size, framesPerSecond: framesPerSecond)
        return [formats[0].at(framesPerSecond: framesPerSecond)] + formats
    }
}
