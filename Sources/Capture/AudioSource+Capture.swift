public import RTCShareMedia

extension AudioSource where Self == PulseSource {
    /// Captures the audio that the machine plays, through the monitor of a sink, or of the default one.
    public static func systemAudio(sink: String? = nil) throws(CaptureError) -> PulseSource {
        try PulseSource(.system(sink: sink))
    }

    /// Captures a microphone, or the default one.
    public static func microphone(device: String? = nil) throws(CaptureError) -> PulseSource {
        try PulseSource(.microphone(device: device))
    }
}

extension AudioSource where Self == ToneSource {
    /// Returns a sine, by default of 440 Hz.
    public static func tone(frequency: Double = 440) throws(CaptureError) -> ToneSource {
        try ToneSource(frequency: frequency)
    }
}

extension AudioSource where Self == WAVSource {
    /// Plays the audio of a WAVE file.
    public static func wavFile(path: String, loop: Bool = false) throws(CaptureError) -> WAVSource {
        try WAVSource(path: path, loop: loop)
    }
}
