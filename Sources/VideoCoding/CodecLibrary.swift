internal import RTCShareCPNG
internal import RTCShareCVPX

/// The library that encodes and decodes, for whoever names what figures were measured with.
package enum CodecLibrary {
    /// libvpx's version as it tells it, `v1.12.0`.
    package static var version: String { String(cString: vpx_codec_version_str()) }

    /// What this module runs on, of what tells its version: libyuv does not.
    package static var versions: [(name: String, version: String)] {
        // 10639 is 1.6.39.
        let png = png_access_version_number()
        return [("libvpx", version), ("libpng", "\(png / 10_000).\(png / 100 % 100).\(png % 100)")]
    }
}
