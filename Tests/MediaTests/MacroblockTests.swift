import RTCShareMedia
import Testing

@Suite struct MacroblockTests {
    @Test(
        "The number of macroblocks is rounded up",
        arguments: [(1920, 1080, 8160), (1280, 720, 3600), (16, 16, 1), (17, 16, 2), (1, 1, 1)])
    func wholeMacroblocks(width: Int, height: Int, count: Int) {
        #expect(PixelSize(width: width, height: height).macroblocks == count)
    }

    @Test(
        "A size that is too large becomes the largest of its aspect that fits, and even",
        arguments: [8160, 3600, 3599, 396, 12])
    func tooLarge(maximum: Int) {
        let source = PixelSize(width: 3840, height: 2160)
        let size = source.fitted(withinMacroblocks: maximum)
        #expect(size.macroblocks <= maximum)
        #expect(size.width % 2 == 0 && size.height % 2 == 0)
        #expect(Double(size.macroblocks) > Double(maximum) * 0.7)
        #expect(abs(Double(size.width) / Double(size.height) - 16.0 / 9) < 0.2)
    }

    @Test("A size that fits stays")
    func smallEnough() {
        let size = PixelSize(width: 1366, height: 768)
        #expect(size.fitted(withinMacroblocks: 8160) == size)
    }
}
