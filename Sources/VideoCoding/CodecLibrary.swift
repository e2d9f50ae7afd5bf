internal import RTCShareCAOM
internal import RTCShareCDav1d
internal import RTCShareCOpenH264
internal import RTCShareCPNG
internal import RTCShareCVPX

/// The library that encodes and decodes, for reports that name the measured software.
package enum CodecLibrary {
    /// libvpx's version string, such as `v1.12.0`.
    package static var version: String { String(cString: vpx_codec_version_str()) }

    /// The names and versions of libraries that this module uses. libyuv reports no version.
    package static var versions: [(name: String, version: String)] {
        // 10639 means 1.6.39.
        let png = png_access_version_number()
        let optional = [
            ("libaom", av1_encoder_library_version()), ("dav1d", av1_decoder_library_version()),
            ("OpenH264", h264_library_version()),
        ]
        return [("libvpx", version), ("libpng", "\(png / 10_000).\(png / 100 % 100).\(png % 100)")]
            + optional.compactMap { name, version in version.map { (name, String(cString: $0)) } }
    }
}

extension VideoCodec {
    /// The libraries with their versions.
    package var libraries: [String] {
        let names = [implementation.encoder, implementation.decoder]
        return CodecLibrary.versions.filter { names.contains($0.name) }.map { "\($0.name) \($0.version)" }
    }
}
