import RTCShareCPipeWireVideo
import RTCShareCPulse

/// The libraries that this module runs on.
package enum CaptureLibraries {
    /// Their versions, as they tell them; those of XCB do not.
    package static var versions: [(name: String, version: String)] {
        [
            ("libpulse", words(pulse_library_problem() == nil ? pa_get_library_version() : nil)),
            ("libpipewire", words(pipewire_video_library_version())),
        ]
    }

    /// Those that a machine may be without.
    private static func words(_ version: UnsafePointer<CChar>?) -> String {
        version.map { String(cString: $0) } ?? "not installed"
    }
}
