import RTCShareCPipeWireVideo
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

/// The parameters that another program's camera reports.
@Suite("Parameters of cameras")
struct CameraParameterTests {
    private static func formats(_ parameter: CameraParameter) -> [CameraFormat] {
        var formats = [pipewire_camera_format](
            repeating: pipewire_camera_format(), count: Int(PIPEWIRE_MOST_FORMATS))
        var count: UInt32 = 0
        CameraParameter.withMemory(parameter.bytes) { camera_add_formats(&formats, &count, $0) }
        return formats.prefix(Int(count)).map { CameraFormat($0) }
    }

    private static func agreed(_ parameter: CameraParameter) -> CameraFormat? {
        var format = pipewire_camera_format()
        let isReadable = CameraParameter.withMemory(parameter.bytes) { camera_parse($0, &format) }
        return isReadable ? CameraFormat(format) : nil
    }

    @Test("Sizes and rates are read from single values, lists and ranges")
    func usual() {
        var one = CameraParameter(CameraParameter.jpeg)
        one.add(.size, .rectangle, [640, 480])
        one.add(.frameRate, .fraction, [30, 1])
        #expect(Self.formats(one).map(\.description) == ["640x480, 30 a second, MJPEG"])
        #expect(Self.agreed(one)?.description == "640x480, 30 a second, MJPEG")
        var list = CameraParameter(CameraParameter.raw)
        list.add(.format, .list, of: .id, size: 4, [4, 4, 4, 4])
        list.add(.size, .list, of: .rectangle, size: 8, [640, 480, 640, 480, 320, 240])
        list.add(.frameRate, .range, of: .fraction, size: 8, [30, 1, 15, 1, 30, 1])
        #expect(
            Self.formats(list).map(\.description)
                == ["640x480, 30/25/15 a second, YUY2", "320x240, 30/25/15 a second, YUY2"])
    }

    @Test("Values of another size than their type's are not read")
    func valueSizes() {
        for size: UInt32 in [0, 1, 4, 7, 9, 16, .max] {
            var parameter = CameraParameter(CameraParameter.jpeg)
            parameter.add(.size, .list, of: .rectangle, size: size, [640, 641, 642, 643, 644, 645])
            #expect(Self.formats(parameter).isEmpty, "\(size)")
            #expect(Self.agreed(parameter) == nil, "\(size)")
        }
        var short = CameraParameter(CameraParameter.jpeg)
        short.add(.size, .rectangle, [640])
        #expect(Self.formats(short).isEmpty)
    }

    @Test("A choice that is truncated before its first value is not read")
    func shortChoices() {
        var head = CameraParameter(CameraParameter.jpeg)
        // The next property would be taken for the type of its values.
        head.addChoice(
            .size, size: 8, [CameraParameter.Choice.list.rawValue, 0, 8, CameraParameter.Kind.rectangle.rawValue])
        head.add(.frameRate, .fraction, [30, 1])
        #expect(Self.formats(head).isEmpty)
        var empty = CameraParameter(CameraParameter.jpeg)
        empty.add(.size, .none, of: .rectangle, size: 8, [])
        #expect(Self.formats(empty).isEmpty)
        #expect(Self.agreed(empty) == nil)
    }

    @Test(
        "Sizes beyond the limits of frames are skipped",
        arguments: [(1, 480), (16_384, 480), (640, .max)] as [(UInt32, UInt32)])
    func sides(width: UInt32, height: UInt32) {
        var parameter = CameraParameter(CameraParameter.jpeg)
        parameter.add(.size, .list, of: .rectangle, size: 8, [width, height, width, height, 320, 240])
        #expect(Self.formats(parameter).map(\.size) == [PixelSize(width: 320, height: 240)])
        var agreed = CameraParameter(CameraParameter.jpeg)
        agreed.add(.size, .rectangle, [width, height])
        #expect(Self.agreed(agreed) == nil)
    }

    @Test(
        "The formats of a camera are limited in number, and extreme rates become rates that can be requested"
    )
    func bounds() throws {
        var parameter = CameraParameter(CameraParameter.jpeg)
        let sizes = (0..<1000).flatMap { (number: UInt32) -> [UInt32] in [100 + number, 100] }
        parameter.add(.size, .list, of: .rectangle, size: 8, sizes)
        parameter.add(.frameRate, .fraction, [1, .max])
        let formats = Self.formats(parameter)
        #expect(formats.count == 255)
        let device = CameraDevice(name: "cam", description: "A camera", formats: formats, node: 1)
        let source = try CameraSource(
            device, size: PixelSize(width: 100, height: 100), framesPerSecond: 30, access: .direct)
        #expect(source.captureFormat.framesPerSecond == CaptureFormat.frameRates.lowerBound)
    }
}
