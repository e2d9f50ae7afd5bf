internal import RTCShareCapture

extension CaptureRemedy {
    /// The remedy in SPECs and options.
    var words: String {
        switch self {
        case .shareDisplay: "use 'display' for the whole screen"
        case .shareDisplayOrRegion: "use the source display or region"
        case .chooseListedWindow: "'rtcshare sources' lists those that can"
        case .nameWindow: "use window:ID for one of them"
        case .shareTestPattern: "use --source test"
        case .shareFileOrTone: "use file:PATH.wav or tone"
        case .shareSystemSound(let sink): "use \(AudioSpecification.system(sink: sink)) for that"
        case .shareOnce(let path): "use file:\(path)"
        }
    }
}
