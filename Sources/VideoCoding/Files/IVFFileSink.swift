internal import RTCShareLocks
public import RTCShareMedia
internal import RTCShareWireFormat

/// Records the pictures of a source or track as VP8 in an IVF file, with an encoder and a thread of its own.
///
/// As IVF knows no rotation, pictures are turned upright. While the source rests its last picture is written once a
/// second; while it is muted nothing is.
public final class IVFFileSink: VideoSink {
    /// Where the recording goes.
    public let path: String
    private let encoder: VideoEncoderThread
    private let recording: Mailbox<Recording>

    private struct Recording {
        var writer: IVFWriter?
        var failure: MediaFileError?
        /// What could not be encoded; what can be after it is written all the same.
        var encodingFailure: VideoCodingError?
        var isClosed = false
        var isFlushed = false

        mutating func write(_ frame: EncodedVideoFrame, to path: String) {
            guard failure == nil else { return }
            do throws(MediaFileError) {
                if writer == nil { writer = try IVFWriter(path: path, size: frame.size) }
                try writer?.write(frame.data, timestamp: frame.timestamp)
            } catch {
                failure = error
            }
        }
    }

    /// Starts the encoder, at 4 Mbit/s. The file is made, or emptied where it is there, with the first frame.
    public convenience init(path: String) throws(VideoCodingError) {
        try self.init(path: path, settings: VideoEncoderThread.Settings(bitrate: .kilobitsPerSecond(4000)))
    }

    /// The same with an encoder of other settings.
    package init(path: String, settings: VideoEncoderThread.Settings) throws(VideoCodingError) {
        var settings = settings
        settings.turnsPictures = true
        let recording = Mailbox(Recording())
        self.path = path
        self.recording = recording
        encoder = try VideoEncoderThread(settings: settings) { frame in
            recording.post { $0.write(frame, to: path) }
        } onEvent: { event in
            recording.post { recording in
                switch event {
                case .failed(let error): recording.encodingFailure = recording.encodingFailure ?? error
                // The key frame mends the recording too.
                case .drifted: break
                case .sourceEnded: recording.isFlushed = true
                }
            }
        }
    }

    deinit {
        encoder.stop()
    }

    /// What the encoder did so far.
    package var statistics: VideoEncoderStatistics { encoder.statistics }

    /// Frames written so far.
    public var framesWritten: Int { recording.read { $0.writer?.frameCount ?? 0 } }

    /// Hands the frame to the encoder; where that is busy, a newer frame replaces one that waits.
    public func receive(_ frame: VideoFrame) {
        encoder.receive(frame)
    }

    /// Passes on what the pictures are.
    public func contentHintDidChange(_ hint: ContentHint) {
        encoder.contentHintDidChange(hint)
    }

    /// Writes nothing while the source is muted.
    public func muteDidChange(_ isMuted: Bool) {
        encoder.muteDidChange(isMuted)
    }

    /// Encodes the frame that still waits, ends the encoder and closes the file. Does nothing the second time. Not to be
    /// called from a sink of the same thread: it waits for the encoder.
    /// - Throws: the first error of encoding or writing, if there was one, or that no frame came.
    public func close() throws(MediaFileError) {
        let isFirst = recording.post { recording in
            defer { recording.isClosed = true }
            return !recording.isClosed
        }
        guard isFirst else { return }
        encoder.sourceDidEnd(error: nil)
        recording.take { $0.isFlushed ? .done(()) : .wait(until: nil) }
        encoder.stop()
        let recording = recording.read { $0 }
        if let failure = recording.failure { throw failure }
        try recording.writer?.close()
        if let failure = recording.encodingFailure { throw .unsuitablePicture(path: path, reason: "\(failure)") }
        if recording.writer == nil { throw .noPicture(path: path) }
    }
}
