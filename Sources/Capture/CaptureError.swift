public import RTCShareAudioCoding
public import RTCShareMedia

/// Why a source could not be opened, or why it ended: what failed, the reason, and what would work.
public enum CaptureError: Error, Sendable, Hashable {
    /// No source gives so many frames a second; see `CaptureFormat.frameRates`.
    case invalidFrameRate(Double)
    /// The test pattern has no such size: why.
    case invalidPatternSize(PixelSize, problem: String)
    /// No tone has this frequency; see ``ToneSource/frequencies``.
    case inaudibleFrequency(Double)
    /// There is no X display at this name (nil: none was named), or it refused.
    case displayUnavailable(display: String?, reason: String)
    /// The display was there and went away, or answered nothing.
    case displayLost(display: String, reason: String)
    /// The display has no output of this name; `outputs` are those that it has.
    case unknownOutput(name: String, outputs: [DisplayOutput])
    /// The region reaches beyond the screen.
    case regionOutsideScreen(region: PixelRectangle, screen: PixelSize)
    /// The part of the screen is too small for a picture, or too large.
    case unsharableSize(PixelSize)
    /// The display has no such window; `windows` are those that it has.
    case unknownWindow(WindowSpecification, windows: [DisplayWindow])
    /// Several windows are meant by this: `windows`.
    case ambiguousWindow(WindowSpecification, windows: [DisplayWindow])
    /// There is such a window, and it can't be shared: why, and what can be done.
    case unsharableWindow(WindowSpecification, reason: String, remedy: CaptureRemedy)
    /// The window that was shared is closed.
    case windowClosed(id: UInt32, title: String)
    /// The screen's pixels lie in a way that is not read: `reason` says how.
    case unsupportedPixels(display: String, reason: String)
    /// The X server refused a request; `code` is the protocol's error code.
    case requestRefused(request: String, code: Int)
    /// A file could not be opened or read; `errorNumber` is the system's.
    case fileUnavailable(path: String, errorNumber: Int32)
    /// The file can be read once only, so that it can't be given again and again.
    case unrepeatableFile(path: String)
    /// The file is no y4m that can be shared; `offset` is the byte where that shows.
    case invalidY4M(path: String, offset: Int, problem: String, remedy: String)
    /// A sound file can't be opened or read.
    case unusableSoundFile(AudioFileError)
    /// There is no sound server (nil: the session's), or it does not take us.
    case soundServerUnavailable(server: String?, reason: String)
    /// The sound server was there and went away, or answered nothing.
    case soundServerLost(reason: String)
    /// The sound server has no device of this name (nil: no default one); `devices` are those that it has, without those
    /// that give what an output plays.
    case unknownSoundDevice(name: String?, kind: SoundDeviceKind, devices: [String])
    /// The source that was named as a microphone gives what an output plays: that of the sink, where there is one.
    case monitorIsNotMicrophone(name: String, sink: String?)
    /// The device was there and went away.
    case soundDeviceLost(device: String, reason: String)
    /// The desktop asked, and the person did not want to share.
    case shareDeclined
    /// The desktop can't be asked for its screens.
    case portalUnavailable(ScreenCastPortal.Problem)
    /// The pictures that the desktop gave ended with an error, or never began.
    case screenCastLost(reason: String)
    /// The desktop, or the person by way of it, ended the share.
    case screenCastEnded
    /// PipeWire, which has the cameras, does not answer.
    case camerasUnavailable(reason: String)
    /// There is no camera of this name (nil: none at all); `cameras` are those that there are.
    case unknownCamera(name: String?, cameras: [CameraDevice])
    /// The camera went away, or gives nothing: it may be another program's.
    case cameraLost(camera: String, reason: String)
    /// The desktop's person does not let this program use cameras.
    case camerasDeclined
    /// The camera has no light that could be switched (a reason of nil), or refuses.
    case torchUnavailable(camera: String, reason: String?)
    /// A camera gave a picture that is none; it was left out.
    case unreadablePicture
    /// The operating system refused something that every source needs.
    case systemRefused(call: String, errorNumber: Int32)
}

/// What a sound server has: sound goes into sinks and comes out of sources.
public enum SoundDeviceKind: Sendable, Hashable {
    /// A microphone or another input, and what a sink plays.
    case source
    /// An output.
    case sink
}

extension CaptureError {
    /// What a sound file is an error for.
    init(_ error: AudioFileError) { self = .unusableSoundFile(error) }
}

extension CaptureError: CaptureFailure {
    /// What observers of the source are told that it is.
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
    /// One or two sentences for a person.
    public var description: String { words(naming: \.description) }

    /// The same in the words of a program that has names of its own for what else can be shared.
    public func words(naming name: (CaptureRemedy) -> String) -> String {
        switch self {
        case .invalidFrameRate(let rate):
            return "\(rate) frames a second cannot be captured; choose \(CaptureFormat.frameRates.lowerBound) to "
                + "\(Int(CaptureFormat.frameRates.upperBound))"
        case .invalidPatternSize(_, let problem):
            return "the test pattern: \(problem)"
        case .inaudibleFrequency(let frequency):
            return "a tone of \(frequency) Hz cannot be heard; choose \(Int(ToneSource.frequencies.lowerBound)) to "
                + "\(Int(ToneSource.frequencies.upperBound)) Hz"
        case .displayUnavailable(nil, let reason):
            return "no display: \(reason); \(Self.displayRemedy), or \(name(.shareTestPattern))"
        case .displayUnavailable(let display?, let reason):
            return "display '\(display)' cannot be opened: \(reason); \(Self.displayRemedy), or "
                + name(.shareTestPattern)
        case .displayLost(let display, let reason):
            return "display '\(display)' was lost: \(reason); start again when it is back"
        case .unknownOutput(let output, let outputs) where outputs.isEmpty:
            return "the display has no output '\(output)', nor any other that is on; \(name(.shareDisplay))"
        case .unknownOutput(let output, let outputs):
            let known = outputs.map(\.description).joined(separator: ", ")
            return "the display has no output '\(output)'; it has \(known)"
        case .regionOutsideScreen(let region, let screen):
            return "region \(region.size)+\(region.x)+\(region.y) reaches beyond the screen, which is \(screen); "
                + "choose one inside"
        case .unsharableSize(let size):
            return "this part of the screen is \(size), and a picture has sides of 2 to \(VideoFrame.maximumSide); "
                + "choose another part"
        case .unknownWindow(let specification, let windows):
            return "no window \(specification.wording); "
                + (windows.isEmpty ? "there is none on the display" : "there are \(Self.list(windows))")
        case .ambiguousWindow(let specification, let windows):
            return "several windows \(specification.pluralWording): \(Self.list(windows)); "
                + name(.nameWindow)
        case .unsharableWindow(let specification, let reason, let remedy):
            return "the window \(specification) can't be shared: \(reason); \(name(remedy))"
        case .windowClosed(let id, let title):
            let named = title.isEmpty ? "" : " '\(title)'"
            return "the window\(named) (\(WindowSpecification.id(id))) was closed; share another one"
        case .unsupportedPixels(let display, let reason):
            return "display '\(display)' has pixels that cannot be read: \(reason); "
                + "use a screen of depth 24, for instance 'Xvfb :99 -screen 0 1280x720x24'"
        case .requestRefused(let request, let code):
            return "the X server refused \(request) with error \(code)"
        case .fileUnavailable(let path, let number):
            return "\(path): \(systemMessage(number))"
        case .unrepeatableFile(let path):
            return "\(path): this file can be read once only, so it cannot be looped; "
                + name(.shareOnce(path: path))
        case .invalidY4M(let path, let offset, let problem, let remedy):
            return "\(path): byte \(offset): \(problem); \(remedy)"
        case .unusableSoundFile(let error):
            return error.description
        case .soundServerUnavailable(let server, let reason):
            let place = server.map { " at '\($0)'" } ?? ""
            return "no sound server answers\(place): \(reason); start PulseAudio or PipeWire, or set PULSE_SERVER"
        case .soundServerLost(let reason):
            return "the sound server was lost: \(reason)"
        case .unknownSoundDevice(let device, let kind, let devices):
            return Self.unknownDevice(device, kind, devices, remedy: name(.shareFileOrTone))
        case .monitorIsNotMicrophone(let monitor, let sink):
            return "'\(monitor)' is not a microphone: it gives what the machine plays; "
                + name(.shareSystemSound(sink: sink))
        case .soundDeviceLost(let device, let reason):
            return "the sound device '\(device)' was lost: \(reason)"
        case .shareDeclined:
            return "the desktop asked what to share, and the answer was no; start again and choose something"
        case .portalUnavailable(let problem):
            return "the desktop's screens can't be asked for: \(problem)"
        case .screenCastLost(let reason):
            return "the desktop's pictures were lost: \(reason); start again when it gives some"
        case .screenCastEnded:
            return "the desktop ended the share; start again to share something else"
        case .camerasUnavailable(let reason):
            return "PipeWire, which has the cameras, doesn't answer: \(reason); start PipeWire and WirePlumber"
        case .unknownCamera(_, let cameras) where cameras.isEmpty:
            return "there is no camera; connect one, or \(name(.shareTestPattern))"
        case .unknownCamera(let camera, let cameras):
            let known = cameras.map { "\($0.name) (\($0.description))" }.joined(separator: ", ")
            return "there is no camera '\(camera ?? "")'; there are \(known)"
        case .cameraLost(let camera, let reason):
            return "the camera '\(camera)' was lost: \(reason); see whether it is connected, and no other program's"
        case .camerasDeclined:
            return "the desktop asked whether this program may use a camera, and the answer was no; allow it in the "
                + "desktop's settings, under privacy"
        case .torchUnavailable(let camera, nil):
            return "the camera '\(camera)' has no light that could be switched"
        case .torchUnavailable(let camera, let reason?):
            return "the camera '\(camera)' refuses to switch its light: \(reason)"
        case .unreadablePicture:
            return "the camera gave a picture that is none"
        case .systemRefused(let call, let number):
            return "\(call): \(systemMessage(number))"
        }
    }

    private static func unknownDevice(
        _ name: String?, _ kind: SoundDeviceKind, _ devices: [String], remedy: String
    ) -> String {
        let what = kind == .source ? "microphone" : "output"
        let known = devices.joined(separator: ", ")
        switch (name, devices.isEmpty) {
        case (nil, true):
            return "the sound server has no \(what); connect one, or \(remedy)"
        case (nil, false):
            return "the sound server's default is not \(kind == .source ? "a microphone" : "an output"); "
                + "name one of \(known), or make it the default"
        case (let name?, true): return "the sound server has no \(what) '\(name)', nor any other"
        case (let name?, false): return "the sound server has no \(what) '\(name)'; it has \(known)"
        }
    }

    private static func list(_ windows: [DisplayWindow]) -> String {
        windows.map(\.description).joined(separator: ", ")
    }

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
