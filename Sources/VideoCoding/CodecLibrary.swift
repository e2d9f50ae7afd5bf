internal import CVPX

/// The library that encodes and decodes, for whoever names what figures were measured with.
public enum CodecLibrary {
    /// libvpx's version as it tells it, `v1.12.0`.
    public static var version: String { String(cString: vpx_codec_version_str()) }
}
