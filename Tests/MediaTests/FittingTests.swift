import RTCShareMedia
import Testing

@Suite("PixelSize.fitted")
struct FittingTests {
    @Test(
        "A fitted size has the frame's aspect, is even and never larger",
        arguments: [
            // source, bound, result
            ((1920, 1080), (1280, 720), (1280, 720)),
            ((1920, 1200), (1280, 720), (1152, 720)),
            ((1600, 900), (1280, 720), (1280, 720)),
            ((1440, 900), (1280, 720), (1152, 720)),
            ((1366, 768), (1280, 720), (1280, 720)),
            ((1000, 1000), (1280, 720), (720, 720)),
            ((3440, 1440), (1920, 1080), (1920, 804)),
            ((1080, 1920), (1280, 720), (406, 720)),
            ((800, 600), (1280, 720), (800, 600)),
            ((1365, 767), (1920, 1080), (1364, 766)),
            ((1281, 721), (1281, 721), (1280, 720)),
            ((1280, 720), (1279, 719), (1276, 718)),
            ((4000, 10), (1280, 720), (1280, 4)),
            ((10, 4000), (1280, 720), (2, 720)),
            ((4000, 1), (1280, 720), (1280, 1)),
            ((1, 1), (1280, 720), (1, 1)),
            ((3, 3), (1280, 720), (2, 2)),
            ((0, 100), (1280, 720), (0, 0)),
            ((100, 100), (0, 0), (0, 0)),
            ((-4, 100), (1280, 720), (0, 0)),
        ])
    func table(source: (Int, Int), bound: (Int, Int), result: (Int, Int)) {
        let fitted = PixelSize(width: source.0, height: source.1)
            .fitted(within: PixelSize(width: bound.0, height: bound.1))
        #expect(fitted == PixelSize(width: result.0, height: result.1))
    }

    @Test("Every result is even, within both sizes, and within a pixel pair of the aspect")
    func properties() {
        let bound = PixelSize(width: 1280, height: 720)
        for width in stride(from: 2, through: 4000, by: 37) {
            for height in stride(from: 2, through: 4000, by: 53) {
                let fitted = PixelSize(width: width, height: height).fitted(within: bound)
                #expect(fitted.width % 2 == 0 && fitted.height % 2 == 0)
                #expect(fitted.width >= 2 && fitted.height >= 2)
                #expect(fitted.width <= min(width, bound.width) && fitted.height <= min(height, bound.height))
                let scale = min(Double(fitted.width) / Double(width), Double(fitted.height) / Double(height))
                #expect(abs(Double(fitted.width) - Double(width) * scale) <= 2 + Double(width) * 2 / Double(height))
            }
        }
    }
}
