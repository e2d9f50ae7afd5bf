internal import Foundation
internal import RTCShareMedia
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// A set of encoder settings for a camera.
struct CameraWay {
    let name: String
    let tuning: VP8Encoder.Tuning
    let speed: Int

    /// The settings in use, then variations of each part, and last the settings for a screen.
    static let all = [
        CameraWay(name: "as it is", tuning: .camera, speed: -5),
        CameraWay(name: "speed -8", tuning: .camera, speed: -8),
        CameraWay(name: "speed -4", tuning: .camera, speed: -4),
        CameraWay(
            name: "screen content", tuning: .init(isScreenContent: true, staticThreshold: 0), speed: -5),
        CameraWay(
            name: "static threshold 1", tuning: .init(isScreenContent: false, staticThreshold: 1), speed: -5),
        CameraWay(name: "noise taken out", tuning: denoised, speed: -5),
        CameraWay(name: "as a screen", tuning: .screen, speed: -8),
    ]

    private static var denoised: VP8Encoder.Tuning {
        var tuning = VP8Encoder.Tuning.camera
        tuning.noiseSensitivity = 1
        return tuning
    }

    var codec: VideoCodec { .vp8(speed: speed, tuning: tuning) }
}

/// A row of the table.
struct CameraResultRow {
    let film: CameraFilm
    let noise: Double
    let bitrate: Int
    let way: CameraWay
    let result: CameraRun.Result

    static let heading =
        "film        size       noise  kbit/s  way                  ms/picture  sent kbit/s  pictures    SSIM   PSNR  "
        + "least width"

    var text: String {
        [
            film.name.padding(toLength: 11, withPad: " ", startingAt: 0),
            "\(film.size)".padding(toLength: 10, withPad: " ", startingAt: 0),
            String(format: "%5.1f  %6d ", noise, bitrate), way.name.padding(toLength: 19, withPad: " ", startingAt: 0),
            String(
                format: "%11.2f  %11.0f  %8d  %.4f  %5.2f  %11d", result.processor, result.kilobits, result.pictures,
                result.similarity, result.signalToNoise, result.leastWidth),
        ].joined(separator: " ")
    }
}
