import RTCShareCPipeWireVideo
import RTCShareCPulse

/// The libraries that this module runs on.
package enum CaptureLibraries {
    /// Their versions, as they tell them; those of XCB do not.
    package static var versions: [(name: String, version: String)] {
        [
            ("libpulse", String(cString: pa_get_library_version())),
            ("libpipewire", String(cString: pipewire_video_library_version())),
        ]
    }
}
