import RTCShareContentShare
import RTCShareMedia
import RTCShareWireFormat
import Testing

@Suite struct UsualBitrateTests {
    @Test(
        "The usual bitrate of content is that of its size within the maximum",
        arguments: [
            (nil, 640, 2500), (nil, 1280, 4600), (nil, 3840, 41_400), (nil, 7680, 41_400), (1280, 3840, 4600),
            (7680, 7680, 100_000),
        ] as [(Int?, Int, Int)])
    func table(maximum: Int?, width: Int, kilobits: Int) {
        func size(_ width: Int) -> PixelSize { PixelSize(width: width, height: width * 9 / 16) }
        let parameters = VideoEncodingParameters(maxSize: maximum.map(size), codecs: ["VP8"])
        #expect(parameters.usualBitrate(of: size(width)) == .kilobitsPerSecond(kilobits))
    }
}
