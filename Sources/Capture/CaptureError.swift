public import RTCShareAudioCoding
public import RTCShareMedia
package import RTCShareWireFormat

/// The reason why a source could not be opened, or why it ended, with a remedy.
public enum CaptureError: Error, Sendable, Hashable {
    /// No source supports this frame rate; see `CaptureFormat.frameRates`.
    case invalidFrameRate(Double)
    /// The test pattern does not support this size; `problem` is the reason.
    case invalidPatternSize(PixelSize, problem: String)
    /// No tone supports this frequency; see ``ToneSource/frequencies``.
    case inaudibleFrequency(Double)
    /// There is no X display with this name (nil: none was named), or it rejected the connection.
    case displayUnavailable(display: String?, reason: String)
    /// The connection to the display was lost, or the display did not answer.
    case displayLost(display: String, reason: String)
    /// The display has no output of this name; `outputs` are the existing ones.
    case unknownOutput(name: String, outputs: [DisplayOutput])
    /// The region reaches beyond the screen.
    case regionOutsideScreen(region: PixelRectangle, screen: PixelSize)
    /// The part of the screen is too small for video, or too large.
    case unsharableSize(PixelSize)
    /// The display has no such window; `windows` are the existing ones.
    case unknownWindow(WindowSpecification, windows: [DisplayWindow])
    /// The specification matches several windows: `windows`.
    case ambiguousWindow(WindowSpecification, windows: [DisplayWindow])
    /// There is such a window, and it can't be shared; `reason` and `remedy` explain that.
    case unsharableWindow(WindowSpecification, reason: String, remedy: CaptureRemedy)
    /// The shared window was closed.
    case windowClosed(id: UInt32, title: String)
    /// The layout of the screen's pixels is not supported; `reason` names it.
    case unsupportedPixels(display: String, reason: String)
    /// The X server rejected a request; `code` is the protocol's error code.
    case requestRefused(request: String, code: Int)
    /// A file could not be opened or read; `errorNumber` is the system's.
    case fileUnavailable(path: String, errorNumber: Int32)
    /// The file can be read only once, so that it can't be looped.
    case unrepeatableFile(path: String)
    /// The file is not a supported y4m file; `offset` is the byte of the fault.
    case invalidY4M(path: String, offset: Int, problem: String, remedy: String)
    /// An audio file can't be opened or read.
    case unusableSoundFile(AudioFileError)
    /// The audio server (nil: the session's) does not run, or it rejected the connection.
    case soundServerUnavailable(server: String?, reason: String)
    /// The connection to the sound server was lost, or the server did not answer.
    case soundServerLost(reason: String)
    /// The sound server has no device of this name (nil: no default one); `devices` are the existing ones, without
    /// monitors, which record an output.
    case unknownSoundDevice(name: String?, kind: SoundDeviceKind, devices: [String])
    /// The source named as a microphone is a monitor, which records an output: that of `sink`, if there is one.
    case monitorIsNotMicrophone(name: String, sink: String?)
    /// The device was removed.
    case soundDeviceLost(device: String, reason: String)
    /// The user declined the desktop's request to share.
    case shareDeclined
    /// The desktop can't be asked for its screens.
    case portalUnavailable(ScreenCastPortal.Problem)
    /// The desktop's video ended with an error, or never began.
    case screenCastLost(reason: String)
    /// The desktop, or its user, ended the share.
    case screenCastEnded
    /// PipeWire, which has the cameras, does not answer.
    case camerasUnavailable(reason: String)
    /// No camera has this name (nil: the machine has none); `cameras` are the existing ones.
    case unknownCamera(name: String?, cameras: [CameraDevice])
    /// The camera was removed, or sends nothing: another program may use it.
    case cameraLost(camera: String, reason: String)
    /// The user does not permit this program to use cameras.
    case camerasDeclined
    /// The camera has no light (a reason of nil), or the request failed.
    case torchUnavailable(camera: String, reason: String?)
    /// A camera sent an invalid frame, which was dropped.
    case unreadablePicture
    /// The operating system rejected a call that every source needs.
    case systemRefused(call: String, errorNumber: Int32)
}

/// The kind of an audio device: audio is written to sinks and read from sources.
public enum SoundDeviceKind: Sendable, Hashable {
    /// A microphone or another input, or the monitor of a sink.
    case source
    /// An output.
    case sink
}

extension CaptureError {
    /// Creates the error for a failure of an audio file.
    init(_ error: AudioFileError) { self = .unusableSoundFile(error) }
}

extension CaptureError: CaptureFailure {
    /// The kind of failure for the source's observers.
    public var kind: CaptureSourceError.Kind {
        switch self {
        case .invalidFrameRate, .invalidPatternSize, .inaudibleFrequency, .unknownOutput, .regionOutsideScreen,
            .unsharableSize, .unsupportedPixels, .unrepeatableFile, .invalidY4M, .unknownSoundDevice,
            .monitorIsNotMicrophone, .unknownWindow,
            .ambiguousWindow, .unsharableWindow, .portalUnavailable(.kindNotOffered), .unknownCamera, .torchUnavailable:
            .configurationFailure
        case .unusableSoundFile(.notWAVE), .unusableSoundFile(.unreadable), .unusableSoundFile(.unsuitableFormat):
            .configurationFailure
        case .displayUnavailable, .displayLost, .requestRefused, .fileUnavailable, .systemRefused, .unusableSoundFile,
            .soundServerUnavailable, .soundServerLost, .soundDeviceLost, .windowClosed, .portalUnavailable,
            .screenCastLost, .screenCastEnded, .shareDeclined, .camerasUnavailable, .cameraLost, .camerasDeclined:
            .systemFailure
        case .unreadablePicture: .invalidFrame
        }
    }
}

extension CaptureError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension CaptureError: ExplainedError {
    /// The failure and its reason and, separately, a remedy.
    package var explanation: Explanation { explanation(naming: \.description) }

    /// Returns the explanation with a program's own names for what else can be shared.
    package func explanation(naming name: (CaptureRemedy) -> String) -> Explanation {
        switch self {
        case .invalidFrameRate(let rate):
            return Explanation(
                "can't capture \(rate) frames a second",
                remedy: "choose \(CaptureFormat.frameRates.lowerBound) to "
                    + "\(Int(CaptureFormat.frameRates.upperBound)) frames a second")
        case .invalidPatternSize(let size, let problem):
            return "a test pattern of \(size): \(problem)"
        case .inaudibleFrequency(let frequency):
            return Explanation(
                "a tone of \(frequency) Hz can't be heard",
                remedy:
                    "choose \(Int(ToneSource.frequencies.lowerBound)) to \(Int(ToneSource.frequencies.upperBound)) Hz")
        case .displayUnavailable(nil, let reason):
            return Explanation("no display: \(reason)", remedy: "\(Self.displayRemedy), or \(name(.shareTestPattern))")
        case .displayUnavailable(let display?, let reason):
            return Explanation(
                "can't open the display '\(display)': \(reason)",
                remedy: "\(Self.displayRemedy), or \(name(.shareTestPattern))")
        case .displayLost(let display, let reason):
            return Explanation("the display '\(display)' was lost: \(reason)", remedy: "restart when it is back")
        case .unknownOutput(let output, let outputs) where outputs.isEmpty:
            return Explanation(
                "the display has no output '\(output)', and no other output is on", remedy: name(.shareDisplay))
        case .unknownOutput(let output, let outputs):
            return Explanation(
                "the display has no output '\(output)'. It has", list: outputs.map(\.description),
                remedy: "choose one of these outputs")
        case .regionOutsideScreen(let region, let screen):
            return Explanation(
                "the region \(region.size)+\(region.x)+\(region.y) is not inside the screen, which is \(screen)",
                remedy: "choose a region inside the screen")
        case .unsharableSize(let size):
            return Explanation(
                "this part of the screen is \(size), and a video has sides of 2 to \(VideoFrame.maximumSide)",
                remedy: "choose another part")
        case .unknownWindow(let specification, let windows):
            return Explanation(
                "no window \(specification.wording). The display has" + (windows.isEmpty ? " no windows" : ""),
                list: windows.map(\.description), remedy: name(.chooseListedWindow))
        case .ambiguousWindow(let specification, let windows):
            return Explanation(
                "several windows \(specification.pluralWording)", list: windows.map(\.description),
                remedy: name(.nameWindow))
        case .unsharableWindow(let specification, let reason, let remedy):
            return Explanation("the window \(specification) can't be shared: \(reason)", remedy: name(remedy))
        case .windowClosed(let id, let title):
            let named = title.isEmpty ? "" : " '\(title)'"
            return Explanation(
                "the window\(named) (\(WindowSpecification.id(id))) was closed", remedy: "share another window")
        case .unsupportedPixels(let display, let reason):
            return Explanation(
                "can't read the pixels of the display '\(display)': \(reason)",
                remedy: "use a screen of depth 24, for example 'Xvfb :99 -screen 0 1280x720x24'")
        case .requestRefused(let request, let code):
            return "the X server rejected \(request) with error \(code)"
        case .fileUnavailable(let path, let number):
            return Explanation(
                "can't open \(path): \(systemMessage(number, path: path))", remedy: "check the path of the file")
        case .unrepeatableFile(let path):
            return Explanation(
                "can't loop \(path): this file can be read only once", remedy: name(.shareOnce(path: path)))
        case .invalidY4M(let path, let offset, let problem, let remedy):
            return Explanation(
                "can't use \(path): \(problem)" + (offset > 0 ? " (at byte \(offset))" : ""), remedy: remedy)
        case .unusableSoundFile(let error):
            return error.explanation
        case .soundServerUnavailable(let server, let reason):
            let place = server.map { " at '\($0)'" } ?? ""
            return Explanation(
                reason == Self.nothingListens
                    ? "no audio server answers\(place)" : "can't use the audio server\(place): \(reason)",
                remedy: "start PulseAudio or PipeWire, or set PULSE_SERVER")
        case .soundServerLost(let reason):
            return Explanation("the audio server was lost: \(reason)", remedy: "restart PulseAudio or PipeWire")
        case .unknownSoundDevice(let device, let kind, let devices):
            return Self.unknownDevice(device, kind, devices, remedy: name(.shareFileOrTone))
        case .monitorIsNotMicrophone(let monitor, let sink):
            return Explanation(
                "'\(monitor)' is not a microphone: it gives what the machine plays",
                remedy: name(.shareSystemSound(sink: sink)))
        case .soundDeviceLost(let device, let reason):
            return Explanation(
                "the audio device '\(device)' was lost: \(reason)", remedy: "connect it, or choose another")
        case .shareDeclined:
            return Explanation(
                "the desktop asked what to share, and that was declined", remedy: "restart and choose something")
        case .portalUnavailable(let problem):
            return Explanation(
                "can't ask the desktop for its screens: \(problem.explanation.problem)",
                remedy: problem.explanation.remedy)
        case .screenCastLost(let reason):
            return Explanation("the desktop's video was lost: \(reason)", remedy: "restart when the desktop is back")
        case .screenCastEnded:
            return Explanation("the desktop ended the share", remedy: "restart to share something else")
        case .camerasUnavailable(let reason):
            return Explanation(
                "no cameras: PipeWire doesn't answer (\(reason))", remedy: "start PipeWire and WirePlumber")
        case .unknownCamera(_, let cameras) where cameras.isEmpty:
            return Explanation("there is no camera", remedy: "connect one, or \(name(.shareTestPattern))")
        case .unknownCamera(let camera, let cameras):
            return Explanation(
                "there is no camera '\(camera ?? "")'. The cameras are",
                list: cameras.map { "\($0.name) (\($0.description))" }, remedy: "choose one of these cameras")
        case .cameraLost(let camera, let reason):
            return Explanation(
                "the camera '\(camera)' was lost: \(reason)",
                remedy: "connect it, and close other programs that use it")
        case .camerasDeclined:
            return Explanation(
                "the desktop doesn't allow this program to use a camera",
                remedy: "allow it in the desktop's privacy settings")
        case .torchUnavailable(let camera, nil):
            return "the camera '\(camera)' has no light that can be switched"
        case .torchUnavailable(let camera, let reason?):
            return "can't switch the light of the camera '\(camera)': \(reason)"
        case .unreadablePicture:
            return "a frame of the camera can't be read"
        case .systemRefused(let call, let number):
            return "\(call): \(systemMessage(number))"
        }
    }

    private static func unknownDevice(
        _ name: String?, _ kind: SoundDeviceKind, _ devices: [String], remedy: String
    ) -> Explanation {
        let what = kind == .source ? "microphone" : "output"
        switch (name, devices.isEmpty) {
        case (nil, true):
            return Explanation("the audio server has no \(what)", remedy: "connect one, or \(remedy)")
        case (nil, false):
            return Explanation(
                "the audio server's default is not \(kind == .source ? "a microphone" : "an output"). It has",
                list: devices, remedy: "name one of these, or make it the default")
        case (let name?, true):
            return Explanation("the audio server has no \(what) '\(name)', and no other", remedy: remedy)
        case (let name?, false):
            return Explanation(
                "the audio server has no \(what) '\(name)'. It has", list: devices, remedy: "choose one of these")
        }
    }

    /// The reason for a sound server that does not run.
    static let nothingListens = "nothing listens there"

    private static let displayRemedy =
        "set DISPLAY to a running X server, start one ('Xvfb :99 -screen 0 1280x720x24')"
}

extension WindowSpecification {
    fileprivate var wording: String {
        switch self {
        case .id: "has the id \(description)"
        case .title(let text): "has '\(text)' in its title"
        }
    }

    fileprivate var pluralWording: String {
        switch self {
        case .id: "have the id \(description)"
        case .title(let text): "have '\(text)' in their titles"
        }
    }
}
