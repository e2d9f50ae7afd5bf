import RTCShareCPipeWireVideo
import TestSupport

/// A parameter in which another program's camera says what it gives, or what was agreed on.
///
/// PipeWire has seen to it that the whole of it is there; nothing else.
struct CameraParameterTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        guard input.count >= 8 else { return }
        let size = UInt32(input.count - 8)
        let parameter = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + input.dropFirst(4)
        var formats = [pipewire_camera_format](
            repeating: pipewire_camera_format(), count: Int(PIPEWIRE_MOST_FORMATS))
        var count: UInt32 = 0
        CameraParameter.withMemory(parameter) { camera_add_formats(&formats, &count, $0) }
        expect(count <= PIPEWIRE_MOST_FORMATS, "there are no more formats than there is room for")
        for format in formats.prefix(Int(count)) { check(format) }
        var agreed = pipewire_camera_format()
        if CameraParameter.withMemory(parameter, { camera_parse($0, &agreed) }) { check(agreed) }
    }

    private func check(_ format: pipewire_camera_format) {
        let sides: ClosedRange<UInt32> = 2...16_383
        expect(sides.contains(format.width) && sides.contains(format.height), "a format has sides that pictures have")
        expect(format.rate_count <= PIPEWIRE_MOST_RATES, "there are no more rates than there is room for")
    }

    func seeds() -> [String: [UInt8]] {
        var list = CameraParameter(CameraParameter.raw)
        list.add(.format, .list, of: .id, size: 4, [CameraParameter.yuy2, CameraParameter.yuy2])
        list.add(.size, .list, of: .rectangle, size: 8, [640, 480, 640, 480])
        list.add(.frameRate, .list, of: .fraction, size: 8, [30, 1, 30, 1])
        var range = CameraParameter(CameraParameter.jpeg)
        range.add(.size, .range, of: .rectangle, size: 8, [640, 480, 2, 2, 1920, 1080])
        range.add(.frameRate, .range, of: .fraction, size: 8, [30, 1, 1, 1, 60, 1])
        var one = CameraParameter(CameraParameter.raw)
        one.add(.format, .id, [CameraParameter.yuy2])
        one.add(.size, .rectangle, [640, 480])
        one.add(.frameRate, .fraction, [30, 1])
        return ["list": list.bytes, "range": range.bytes, "one": one.bytes]
    }
}
