import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare

@Suite struct LocalVideoConfigurationTests {
    @Test("Bitrates of 30 kbit/s and more, and none, can be had", arguments: [nil, 30, 2500, 100_000] as [Int?])
    func bitrates(bitrate: Int?) {
        #expect(LocalVideoConfiguration(maxBitrate: bitrate.map(DataRate.kilobitsPerSecond)).problem == nil)
    }

    @Test("Bitrates that can't be are named", arguments: [-1, 0, 1, 29, 100_001])
    func impossibleBitrates(bitrate: Int) {
        #expect(
            LocalVideoConfiguration(maxBitrate: .kilobitsPerSecond(bitrate)).problem?.contains("\(bitrate) kbit/s")
                == true)
    }

    @Test("A frame rate above 0 and up to 240 can be had, and another is named")
    func frameRates() {
        for rate in [0.1, 1, 30, 240] { #expect(LocalVideoConfiguration(maxFramerate: rate).problem == nil) }
        for rate in [0, -1, 240.1, .nan, .infinity, -.infinity] as [Double] {
            #expect(LocalVideoConfiguration(maxFramerate: rate).problem?.contains("frame rate") == true)
        }
    }

    @Test("Sizes of 16 to 16383 a side can be had, and others are named")
    func sizes() {
        for (width, height) in [(16, 16), (1920, 1080), (16_383, 16_383)] {
            let size = PixelSize(width: width, height: height)
            #expect(LocalVideoConfiguration(maxSize: size).problem == nil)
        }
        for (width, height) in [(15, 16), (16, 15), (0, 0), (-16, 16), (16_384, 16), (16, .max)] {
            let size = PixelSize(width: width, height: height)
            #expect(LocalVideoConfiguration(maxSize: size).problem?.contains("16 to 16383") == true)
        }
    }
}
