import RTCShareCPipeWireVideo
import RTCShareCPulse

/// The libraries that this module uses.
package enum CaptureLibraries {
    /// The libraries' versions. XCB reports none.
    package static var versions: [(name: String, version: String)] {
        [
            ("libpulse", words(pulse_library_problem() == nil ? pa_get_library_version() : nil)),
            ("libpipewire", words(pipewire_video_library_version())),
        ]
    }

    /// Returns the version of a library that may be missing.
    private static func words(_ version: UnsafePointer<CChar>?) -> String {
        version.map { String(cString: $0) } ?? "not installed"
    }
}
