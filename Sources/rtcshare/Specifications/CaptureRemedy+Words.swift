internal import RTCShareCapture

extension CaptureRemedy {
    /// The remedy in SPECs and options.
    var words: String {
        switch self {
        case .shareDisplay: "share the whole screen with --source display"
        case .shareDisplayOrRegion: "use --source display or region"
        case .chooseListedWindow: "rtcshare sources (it lists the windows that can be shared)"
        case .nameWindow: "name one of them as window:ID"
        case .shareTestPattern: "use --source test"
        case .shareFileOrTone: "use file:PATH.wav or tone"
        case .shareSystemSound(let sink): "use \(AudioSpecification.system(sink: sink)) for that"
        case .shareOnce(let path): "use file:\(path)"
        }
    }
}
