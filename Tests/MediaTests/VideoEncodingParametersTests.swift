import RTCShareMedia
import RTCShareWireFormat
import Testing

@Suite struct VideoEncodingParametersTests {
    @Test("A bitrate of 30 kbit/s to 100 Mbit/s, or none, is allowed", arguments: [nil, 30, 2500, 100_000] as [Int?])
    func bitrates(bitrate: Int?) {
        #expect(VideoEncodingParameters(maxBitrate: bitrate.map(DataRate.kilobitsPerSecond)).problem == nil)
    }

    @Test("A bitrate out of range is an error that names it", arguments: [-1, 0, 1, 29, 100_001])
    func impossibleBitrates(bitrate: Int) {
        #expect(
            VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(bitrate)).problem?.contains("\(bitrate) kbit/s")
                == true)
    }

    @Test("A frame rate of 0.1 to 240 is allowed, and any other is an error that names it")
    func frameRates() {
        for rate in [0.1, 1, 30, 240] { #expect(VideoEncodingParameters(maxFramerate: rate).problem == nil) }
        for rate in [0, -1, 240.1, .nan, .infinity, -.infinity] as [Double] {
            #expect(VideoEncodingParameters(maxFramerate: rate).problem?.contains("frame rate") == true)
        }
    }

    @Test("Sides of 16 to 16383 are allowed, and any other is an error that names it")
    func sizes() {
        for (width, height) in [(16, 16), (1920, 1080), (16_383, 16_383)] {
            let size = PixelSize(width: width, height: height)
            #expect(VideoEncodingParameters(maxSize: size).problem == nil)
        }
        for (width, height) in [(15, 16), (16, 15), (0, 0), (-16, 16), (16_384, 16), (16, .max)] {
            let size = PixelSize(width: width, height: height)
            #expect(VideoEncodingParameters(maxSize: size).problem?.contains("16 to 16383") == true)
        }
    }

    @Test("The parameters of a layer have the limits of the video's, and a divisor of 1 to 64")
    func layers() {
        func problem(_ layer: VideoLayerParameters) -> String? {
            VideoEncodingParameters(layers: [VideoLayerParameters(active: false), layer]).problem
        }
        #expect(problem(VideoLayerParameters(scaleResolutionDownBy: 1.5)) == nil)
        for scale in [0, 0.9, 65, -1, .nan, .infinity] as [Double] {
            #expect(problem(VideoLayerParameters(scaleResolutionDownBy: scale))?.contains("1.0 to 64.0") == true)
        }
        #expect(problem(VideoLayerParameters(maxBitrate: .kilobitsPerSecond(29)))?.contains("29 kbit/s") == true)
        #expect(problem(VideoLayerParameters(maxFramerate: 0))?.contains("frame rate") == true)
        let layers = [VideoLayerParameters(maxFramerate: 5)]
        #expect(VideoEncodingParameters().overriding(VideoEncodingParameters(layers: layers)).layers == layers)
    }

    private static let size = PixelSize(width: 640, height: 360)
    private static let defaults = VideoEncodingParameters(
        maxBitrate: .kilobitsPerSecond(2500), maxFramerate: 30, maxSize: PixelSize(width: 1280, height: 720),
        contentHint: .detail, usesPartialUpdates: true)

    @Test(
        "A parameter overrides its default and no other",
        arguments: [
            (VideoEncodingParameters(), [0, 0, 0, 0, 0]),
            (VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(800)), [1, 0, 0, 0, 0]),
            (VideoEncodingParameters(maxFramerate: 5), [0, 1, 0, 0, 0]),
            (VideoEncodingParameters(maxSize: size), [0, 0, 1, 0, 0]),
            (VideoEncodingParameters(contentHint: ContentHint.none), [0, 0, 0, 1, 0]),
            (VideoEncodingParameters(usesPartialUpdates: false), [0, 0, 0, 0, 1]),
        ])
    func overriding(parameters: VideoEncodingParameters, changed: [Int]) {
        let result = parameters.overriding(Self.defaults)
        let defaults = Self.defaults
        #expect(
            [
                result.maxBitrate != defaults.maxBitrate, result.maxFramerate != defaults.maxFramerate,
                result.maxSize != defaults.maxSize, result.contentHint != defaults.contentHint,
                result.usesPartialUpdates != defaults.usesPartialUpdates,
            ].map { $0 ? 1 : 0 } == changed)
        #expect(parameters.overriding(result) == result)
        #expect(parameters.overriding(VideoEncodingParameters()) == parameters)
    }

    @Test("Each name leaves out one heuristic, on either side of an override, and an unknown name is refused")
    func heuristics() {
        #expect(EncoderHeuristics(without: []) == .all)
        #expect(EncoderHeuristics(without: ["motion-search", "strange"]) == nil)
        var rest = EncoderHeuristics.all
        for (name, heuristic) in EncoderHeuristics.named {
            #expect(rest.contains(heuristic) && !heuristic.isEmpty)
            rest.subtract(heuristic)
            var parameters = VideoEncodingParameters()
            parameters.heuristics = EncoderHeuristics(without: [name]) ?? []
            #expect(parameters.overriding(Self.defaults).heuristics == EncoderHeuristics.all.subtracting(heuristic))
            #expect(Self.defaults.overriding(parameters).heuristics == parameters.heuristics)
        }
        #expect(rest.isEmpty)
    }
}
