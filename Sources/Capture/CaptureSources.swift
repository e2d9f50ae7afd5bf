public import RTCShareMedia

// Sources by names that complete where a source is asked for: `start(capturing: .display())`.

extension VideoSource where Self == DisplaySource {
    /// The whole screen of the display in `DISPLAY`, or what one of its outputs (monitors) shows.
    public static func display(
        output: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) -> DisplaySource {
        try DisplaySource(area: output.map { .output($0) } ?? .screen, framesPerSecond: framesPerSecond)
    }

    /// A rectangle of the screen.
    public static func region(
        _ rectangle: PixelRectangle, framesPerSecond: Double = 30
    ) throws(CaptureError) -> DisplaySource {
        try DisplaySource(area: .region(rectangle), framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == WindowSource {
    /// The window whose title is `title`, or else has it in it; capitals don't matter.
    public static func window(
        titled title: String, framesPerSecond: Double = 30
    ) throws(CaptureError) -> WindowSource {
        try WindowSource(.title(title), framesPerSecond: framesPerSecond)
    }

    /// A window that was listed.
    public static func window(
        _ window: DisplayWindow, framesPerSecond: Double = 30
    ) throws(CaptureError) -> WindowSource {
        try WindowSource(.id(window.id), framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == PortalSource {
    /// What a person chooses on a Wayland desktop; see ``PortalSource``.
    public static func portal(
        _ kind: ScreenCastPortal.Kind = .any, restoreToken: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) -> PortalSource {
        try PortalSource(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == CameraSource {
    /// What a camera sees: the one of a name, PipeWire's or a part of the one for people, or else the first.
    public static func camera(
        named name: String? = nil, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) -> CameraSource {
        try CameraSource(named: name, size: size, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == TestPatternSource {
    /// A test pattern: it moves, counts its frames and flashes once a second.
    public static func testPattern(
        size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) -> TestPatternSource {
        try TestPatternSource(size: size, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == Y4MSource {
    /// A film in a YUV4MPEG2 file.
    public static func film(path: String, loop: Bool = false) throws(CaptureError) -> Y4MSource {
        try Y4MSource(path: path, loop: loop)
    }
}

extension AudioSource where Self == PulseSource {
    /// What the machine plays, by the monitor of a sink, or of the default one.
    public static func systemSound(sink: String? = nil) throws(CaptureError) -> PulseSource {
        try PulseSource(.system(sink: sink))
    }

    /// A microphone, or the default one.
    public static func microphone(device: String? = nil) throws(CaptureError) -> PulseSource {
        try PulseSource(.microphone(device: device))
    }
}

extension AudioSource where Self == ToneSource {
    /// A sine, by default of 440 Hz.
    public static func tone(frequency: Double = 440) throws(CaptureError) -> ToneSource {
        try ToneSource(frequency: frequency)
    }
}

extension AudioSource where Self == WAVSource {
    /// Sound from a WAVE file.
    public static func recording(path: String, loop: Bool = false) throws(CaptureError) -> WAVSource {
        try WAVSource(path: path, loop: loop)
    }
}
