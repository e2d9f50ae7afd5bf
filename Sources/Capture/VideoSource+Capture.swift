public import RTCShareMedia

// Sources by names that complete where a source is expected: `start(capturing: .display())`.

extension VideoSource where Self == DisplaySource {
    /// Captures the whole screen of the display in `DISPLAY`, or one of its outputs (monitors).
    public static func display(
        output: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) -> DisplaySource {
        try DisplaySource(area: output.map { .output($0) } ?? .screen, framesPerSecond: framesPerSecond)
    }

    /// Captures a rectangle of the screen.
    public static func region(
        _ rectangle: PixelRectangle, framesPerSecond: Double = 30
    ) throws(CaptureError) -> DisplaySource {
        try DisplaySource(area: .region(rectangle), framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == WindowSource {
    /// Captures the window whose title is `title`, or contains it, in any case.
    public static func window(
        titled title: String, framesPerSecond: Double = 30
    ) throws(CaptureError) -> WindowSource {
        try WindowSource(.title(title), framesPerSecond: framesPerSecond)
    }

    /// Captures a listed window.
    public static func window(
        _ window: DisplayWindow, framesPerSecond: Double = 30
    ) throws(CaptureError) -> WindowSource {
        try WindowSource(.id(window.id), framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == PortalSource {
    /// Captures the user's choice on a Wayland desktop; see ``PortalSource``.
    public static func portal(
        _ kind: ScreenCastPortal.Kind = .any, restoreToken: String? = nil, framesPerSecond: Double = 30
    ) throws(CaptureError) -> PortalSource {
        try PortalSource(kind, restoreToken: restoreToken, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == CameraSource {
    /// Captures the camera with this name (PipeWire's name, or a part of the name for people), or the first.
    public static func camera(
        named name: String? = nil, size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) -> CameraSource {
        try CameraSource(named: name, size: size, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == TestPatternSource {
    /// Returns a test pattern, which moves, counts its frames and flashes once a second.
    public static func testPattern(
        size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) -> TestPatternSource {
        try TestPatternSource(size: size, framesPerSecond: framesPerSecond)
    }
}

extension VideoSource where Self == Y4MSource {
    /// Plays the video in a YUV4MPEG2 file.
    public static func y4mFile(path: String, loop: Bool = false) throws(CaptureError) -> Y4MSource {
        try Y4MSource(path: path, loop: loop)
    }
}
