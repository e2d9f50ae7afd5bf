import RTCShareMedia
import Testing

/// The size of a frame, a request, and the expected crop and size.
struct FormatCase: CustomTestStringConvertible, Sendable {
    let input: PixelSize
    let request: PixelSize
    let crop: PixelSize
    let output: PixelSize

    init(_ input: (Int, Int), _ request: (Int, Int), crop: (Int, Int)? = nil, _ output: (Int, Int)) {
        self.input = PixelSize(width: input.0, height: input.1)
        self.request = PixelSize(width: request.0, height: request.1)
        self.crop = PixelSize(width: (crop ?? input).0, height: (crop ?? input).1)
        self.output = PixelSize(width: output.0, height: output.1)
    }

    var testDescription: String { "\(input) asked for \(request)" }
}

@Suite("VideoFormatAdapter")
struct VideoFormatAdapterTests {
    private func adapt(
        _ size: PixelSize, _ request: PixelSize, _ mode: OutputFormatMode
    ) -> VideoFormatAdapter.Adaptation? {
        var adapter = VideoFormatAdapter()
        adapter.setOutputFormat(width: request.width, height: request.height, fps: 0, mode: mode)
        return adapter.adapt(size, timestamp: .zero)
    }

    @Test("A frame passes unchanged if there is no request", arguments: [(1, 1), (641, 479), (1920, 1080)])
    func none(width: Int, height: Int) throws {
        var adapter = VideoFormatAdapter()
        let size = PixelSize(width: width, height: height)
        let adapted = adapter.adapt(size, timestamp: .zero)
        let adaptation = try #require(adapted)
        #expect(adaptation.crop == PixelRectangle(x: 0, y: 0, size: size) && adaptation.outputSize == size)
    }

    @Test(
        "crop: the sizes that libwebrtc makes of common screens",
        arguments: [
            FormatCase((1920, 1080), (1280, 720), (1280, 720)),
            FormatCase((1920, 1200), (1280, 720), crop: (1920, 1080), (1280, 720)),
            FormatCase((1600, 900), (1280, 720), crop: (1600, 896), (1200, 672)),
            FormatCase((1440, 900), (1280, 720), crop: (1440, 810), (960, 540)),
            FormatCase((1000, 1000), (1280, 720), crop: (562, 1000), (562, 1000)),
            FormatCase((1366, 768), (1280, 720), crop: (1362, 768), (908, 512)),
            FormatCase((800, 600), (1280, 720), crop: (800, 450), (800, 450)),
            FormatCase((3440, 1440), (1920, 1080), crop: (2560, 1440), (1920, 1080)),
            FormatCase((1080, 1920), (1280, 720), (720, 1280)),
        ])
    func screens(_ item: FormatCase) throws {
        try check(item)
    }

    @Test(
        "crop: the cases of libwebrtc's own test of its adapter",
        arguments: [
            FormatCase((1280, 720), (12800, 7200), (1280, 720)), FormatCase((1280, 720), (1280, 720), (1280, 720)),
            FormatCase((1280, 720), (640, 360), (640, 360)), FormatCase((640, 360), (640, 360), (640, 360)),
            FormatCase((640, 400), (640, 400), (640, 400)),
            FormatCase((640, 400), (1280, 720), crop: (640, 360), (640, 360)),
            FormatCase((640, 400), (320, 200), (320, 200)), FormatCase((640, 400), (424, 265), (320, 200)),
            FormatCase((640, 400), (240, 150), (240, 150)), FormatCase((640, 400), (480, 300), (480, 300)),
            FormatCase((640, 480), (640, 360), crop: (640, 360), (640, 360)),
            FormatCase((640, 400), (720, 1280), crop: (640, 360), (640, 360)),
            FormatCase((480, 640), (640, 360), crop: (360, 640), (360, 640)),
            // By 3/4 and 2/3.
            FormatCase((1280, 720), (960, 540), (960, 540)), FormatCase((1280, 720), (480, 270), (480, 270)),
            FormatCase((1280, 720), (320, 180), (320, 180)), FormatCase((1280, 720), (160, 90), (160, 90)),
            // Sides that divide by 3: by 2/3 and 3/4.
            FormatCase((1920, 1080), (960, 540), (960, 540)), FormatCase((1920, 1080), (640, 360), (640, 360)),
            FormatCase((1920, 1080), (480, 270), (480, 270)), FormatCase((1920, 1080), (320, 180), (320, 180)),
            // Sides that divide by 9: twice by 2/3.
            FormatCase((1440, 1080), (960, 720), (960, 720)), FormatCase((1440, 1080), (640, 480), (640, 480)),
            FormatCase((1440, 1080), (480, 360), (480, 360)), FormatCase((1440, 1080), (320, 240), (320, 240)),
            FormatCase((1440, 1080), (240, 180), (240, 180)), FormatCase((1440, 1080), (160, 120), (160, 120)),
            FormatCase((1440, 1080), (80, 60), (80, 60)),
        ])
    func published(_ item: FormatCase) throws {
        try check(item)
    }

    private func check(_ item: FormatCase) throws {
        let adaptation = try #require(adapt(item.input, item.request, .crop))
        #expect(adaptation.crop.size == item.crop)
        #expect(adaptation.outputSize == item.output)
        // Centred, to the even number.
        #expect(adaptation.crop.x == (item.input.width - item.crop.width) / 2 & ~1)
        #expect(adaptation.crop.y == (item.input.height - item.crop.height) / 2 & ~1)
        // Whichever way the request lies.
        let turned = PixelSize(width: item.request.height, height: item.request.width)
        #expect(adapt(item.input, turned, .crop) == adaptation)
    }

    @Test("crop: every result is even, inside the frame, within the budget and never scaled up")
    func cropInvariants() throws {
        for width in stride(from: 2, through: 2000, by: 111) {
            for height in stride(from: 2, through: 1500, by: 97) {
                for request in [(1280, 720), (640, 640), (2, 2), (7, 3), (4000, 20)] {
                    let (size, bound) = (
                        PixelSize(width: width, height: height), PixelSize(width: request.0, height: request.1)
                    )
                    let adaptation = try #require(adapt(size, bound, .crop))
                    let (crop, output) = (adaptation.crop, adaptation.outputSize)
                    #expect(crop.x >= 0 && crop.x + crop.size.width <= width && crop.x % 2 == 0)
                    #expect(crop.y >= 0 && crop.y + crop.size.height <= height && crop.y % 2 == 0)
                    #expect(output.width <= crop.size.width && output.height <= crop.size.height)
                    #expect(output.width % 2 == 0 && output.height % 2 == 0 && output.area > 0, "\(size) \(bound)")
                    // Rounding the crop up may exceed the budget a little, as it does in libwebrtc.
                    #expect(output.area <= bound.area * 3 / 2 + 8, "\(size) to \(bound) gave \(output)")
                }
            }
        }
    }

    @Test(
        "fit: every result is the whole frame, even, never scaled up, and within the request in the frame's orientation"
    )
    func fit() throws {
        for width in stride(from: 2, through: 4000, by: 93) {
            for height in stride(from: 2, through: 2300, by: 71) {
                for bound in [PixelSize(width: 1280, height: 720), PixelSize(width: 600, height: 900)] {
                    let size = PixelSize(width: width, height: height)
                    let adaptation = try #require(adapt(size, bound, .fit))
                    let output = adaptation.outputSize
                    #expect(adaptation.crop == PixelRectangle(x: 0, y: 0, size: size))
                    #expect(output.width % 2 == 0 && output.height % 2 == 0 && output.area > 0)
                    #expect(output.width <= width && output.height <= height)
                    let (long, short) = (max(bound.width, bound.height), min(bound.width, bound.height))
                    #expect(output.width <= (width > height ? long : short))
                    #expect(output.height <= (width > height ? short : long))
                    // The aspect is as near as even sides allow.
                    let exact = Double(output.width) * Double(height) / Double(width)
                    let other = Double(output.height) * Double(width) / Double(height)
                    #expect(
                        abs(exact - Double(output.height)) <= 2 || abs(other - Double(output.width)) <= 2,
                        "\(size) became \(output)")
                }
            }
        }
    }

    @Test(
        "A request with an empty or a negative side drops every frame", arguments: [(0, 0), (0, 5), (-3, 9)])
    func empty(width: Int, height: Int) {
        for mode in [OutputFormatMode.fit, .crop] {
            #expect(adapt(PixelSize(width: 640, height: 480), PixelSize(width: width, height: height), mode) == nil)
        }
    }

    @Test("Extreme requests and sizes do not trap")
    func absurd() throws {
        let size = PixelSize(width: 640, height: 480)
        #expect(adapt(size, PixelSize(width: .max, height: .max), .fit)?.outputSize == size)
        for mode in [OutputFormatMode.fit, .crop] {
            for request in [(Int.max, 1), (1, Int.max), (1, 1), (.max, 2)] {
                let adaptation = try #require(
                    adapt(size, PixelSize(width: request.0, height: request.1), mode))
                #expect(adaptation.outputSize.area > 0)
            }
            #expect(adapt(PixelSize(width: .max, height: .max), size, mode) == nil)
            #expect(adapt(PixelSize(width: -4, height: -4), size, mode) == nil)
        }
    }

    @Test("A request that is too small for an exact fraction is respected")
    func tiny() throws {
        let adaptation = try #require(adapt(PixelSize(width: 640, height: 480), PixelSize(width: 2, height: 2), .crop))
        #expect(adaptation.outputSize == PixelSize(width: 2, height: 2))
    }
}

@Suite("VideoFormatAdapter's rate")
struct OutputRateTests {
    /// Returns the indices of the frames that pass.
    private func passing(_ times: [Duration], fps: Double) -> [Int] {
        var adapter = VideoFormatAdapter()
        adapter.setOutputFormat(width: 640, height: 480, fps: fps)
        let size = PixelSize(width: 640, height: 480)
        return times.indices.filter { adapter.adapt(size, timestamp: times[$0]) != nil }
    }

    private func every(_ interval: Duration, count: Int) -> [Duration] { (0..<count).map { interval * $0 } }
    /// 30 a second, as libwebrtc's test has them.
    private static let thirtieth = Duration.microseconds(33_333)

    @Test(
        "A rate selects from 30 frames per second",
        arguments: [
            (15.0, [0, 2, 4, 6, 8]), (20, [0, 1, 3, 4, 6, 7, 9]), (30, Array(0...9)), (60, Array(0...9)),
            (0, Array(0...9)), (-5, Array(0...9)), (.nan, Array(0...9)), (.infinity, Array(0...9)),
        ])
    func rates(fps: Double, expected: [Int]) {
        #expect(passing(every(Self.thirtieth, count: 10), fps: fps) == expected)
    }

    @Test("A rate of one per second selects the second frame half an interval after the first")
    func slow() {
        #expect(passing(every(.milliseconds(1000) / 60, count: 300), fps: 1).map { $0 / 30 } == [0, 1, 3, 5, 7, 9])
    }

    @Test("Jitter of a source at the permitted rate drops no frame")
    func jitter() {
        let interval = 33_333_333
        let times = [0, interval - 1, interval * 25 / 10, interval * 3, interval * 35 / 10, interval * 5]
            .map { Duration.nanoseconds($0) }
        #expect(passing(times, fps: 30) == Array(times.indices))
    }

    @Test("A jump of two intervals or more, forward or back, restarts the schedule", arguments: [-987_654, 987_654])
    func leap(seconds: Int) {
        let leap = Duration.seconds(seconds)
        #expect(passing([.zero, leap, leap + Self.thirtieth], fps: 30) == [0, 1, 2])
    }

    @Test("A frame before its time is dropped, and one at its time passes")
    func boundary() {
        // Due at half an interval, then an interval on.
        #expect(passing([.zero, .milliseconds(49), .milliseconds(50), .milliseconds(149)], fps: 10) == [0, 2])
        #expect(passing([.zero, .milliseconds(50), .milliseconds(150)], fps: 10) == [0, 1, 2])
    }

    @Test("A new request holds from the next frame on and restarts the schedule")
    func changes() {
        var adapter = VideoFormatAdapter()
        let size = PixelSize(width: 640, height: 480)
        adapter.setOutputFormat(width: 640, height: 480, fps: 1)
        #expect(adapter.adapt(size, timestamp: .zero) != nil)
        #expect(adapter.adapt(size, timestamp: .milliseconds(100)) == nil)
        adapter.setOutputFormat(width: 320, height: 240, fps: 1)
        #expect(adapter.adapt(size, timestamp: .milliseconds(200))?.outputSize == PixelSize(width: 320, height: 240))
        #expect(adapter.adapt(size, timestamp: .milliseconds(300)) == nil)
        adapter.setOutputFormat(width: 640, height: 480, fps: 0)
        #expect(adapter.adapt(size, timestamp: .milliseconds(301))?.outputSize == size)
    }
}
