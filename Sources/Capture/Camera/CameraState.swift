/// The camera in use, with its format.
struct CameraState {
    private(set) var device: CameraDevice
    /// The formats in order of preference.
    private(set) var formats: [CameraFormat]
    /// The current format, or the first of those.
    private(set) var format: CameraFormat
    /// The number of changes so far.
    private(set) var generation = 0
    var isTorchEnabled = false
    /// Whether the camera is in use now.
    var isRunning = false

    init(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats, format) = (device, formats, formats[0])
    }

    /// Changes to another camera or format.
    mutating func use(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats, format) = (device, formats, formats[0])
        generation += 1
    }

    /// Updates the same camera after a search.
    mutating func found(_ device: CameraDevice, _ formats: [CameraFormat]) {
        (self.device, self.formats) = (device, formats)
    }

    /// Sets the camera's current format.
    mutating func gives(_ format: CameraFormat) { self.format = format }
}
