import Foundation

@testable import RTCShareVideoCoding

/// The libraries that a machine may lack. If everything should be installed, `RTCSHARE_REQUIRE_PEERS` makes their tests
/// fail instead of skip.
enum CodecLibraries {
    private static let mustRun = ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil

    static let hasAV1 = mustRun || AV1Coder.unavailability == nil && AV1Decoder.unavailability == nil
    static let hasH264 = mustRun || H264Coder.unavailability == nil
    static let screenCodecs = (hasAV1 ? [VideoCodec.av1] : []) + (hasH264 ? [.h264] : [])
    static let hasGStreamer =
        mustRun || FileManager.default.isExecutableFile(atPath: "/usr/bin/gst-launch-1.0")
    static let hasFFmpeg = mustRun || FFmpegLibrary.installed != nil
}
