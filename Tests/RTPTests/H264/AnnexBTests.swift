import TestSupport
import Testing

@testable import RTCShareRTP

@Suite("NAL units of H.264")
struct AnnexBTests {
    /// Parameter sets of x264: of frames, with and without fields, in profiles with other chroma and fewer tools.
    private static let parameterSets: [(profile: UInt32, shown: [Int], coded: [Int], unit: [UInt8])] = [
        (
            0x640028, [1920, 1080], [1920, 1088],
            [
                0x67, 0x64, 0x00, 0x28, 0xAC, 0xD9, 0x40, 0x78, 0x02, 0x27, 0xE5, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00,
                0x04, 0x00, 0x00, 0x03, 0x00, 0xC8, 0x3C, 0x60, 0xC6, 0x58,
            ]
        ),
        (
            0xF4001E, [853, 480], [864, 480],
            [
                0x67, 0xF4, 0x00, 0x1E, 0x91, 0x9B, 0x28, 0x1B, 0x07, 0xBC, 0x67, 0x80, 0x88, 0x00, 0x00, 0x03, 0x00,
                0x08, 0x00, 0x00, 0x03, 0x01, 0x90, 0x78, 0xB1, 0x6C, 0xB0,
            ]
        ),
        (
            0x42C020, [1366, 766], [1376, 768],
            [
                0x67, 0x42, 0xC0, 0x20, 0xD9, 0x00, 0x56, 0x06, 0x1E, 0x6A, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04,
                0x00, 0x00, 0x03, 0x00, 0xC8, 0x3C, 0x60, 0xC9, 0x20,
            ]
        ),
        (
            0x4D401E, [720, 576], [720, 576],
            [
                0x67, 0x4D, 0x40, 0x1E, 0xEC, 0xA0, 0x5A, 0x12, 0x6C, 0x04, 0x40, 0x00, 0x00, 0x03, 0x00, 0x40, 0x00,
                0x00, 0x0C, 0x87, 0xC5, 0x0A, 0x65, 0x80,
            ]
        ),
        (
            0x7A000C, [200, 150], [208, 160],
            [
                0x67, 0x7A, 0x00, 0x0C, 0xBC, 0xD9, 0x43, 0x45, 0x79, 0x62, 0xF0, 0x11, 0x00, 0x00, 0x03, 0x00, 0x01,
                0x00, 0x00, 0x03, 0x00, 0x32, 0x0F, 0x14, 0x29, 0x96,
            ]
        ),
    ]

    @Test("Units follow start codes of three and four bytes, without the zeros between them")
    func units() throws {
        let frame: [UInt8] =
            [0, 0, 0, 1, 0x67, 0x42, 0, 0, 1, 0x68, 0xCE, 0, 0, 3, 1, 0, 0, 0, 1, 0x65, 0x88, 0, 0, 0]
        #expect(
            try AnnexB.units(of: frame.span.bytes) == [
                AnnexB.Unit(type: 7, bytes: 4..<6), AnnexB.Unit(type: 8, bytes: 9..<15),
                AnnexB.Unit(type: 5, bytes: 19..<21),
            ])
    }

    @Test(
        "A frame without a start code, with an empty unit or a forbidden bit is an error",
        arguments: [[], [0, 0, 1], [0x65, 0x88], [9, 0, 0, 1, 0x65], [0, 0, 1, 0, 0, 1, 0x65], [0, 0, 1, 0xE5, 1]])
    func errors(frame: [UInt8]) {
        #expect(throws: RTPError.self) { try AnnexB.units(of: frame.span.bytes) }
        #expect(throws: RTPError.self) { try H264FrameHeader(parsing: frame.span.bytes) }
    }

    @Test("A parameter set has the size of its frames, and that of their macroblocks", arguments: parameterSets)
    func sizes(profile: UInt32, shown: [Int], coded: [Int], unit: [UInt8]) throws {
        let parameters = try H264SequenceParameters(unit.span.bytes, unit.indices)
        #expect(parameters.profileLevelID == profile)
        #expect([parameters.width, parameters.height] == shown)
        #expect([parameters.codedWidth, parameters.codedHeight] == coded)
    }

    @Test("Headers that are cut, changed or random are an error or read, without a trap")
    func garbage() {
        let frame = [0, 0, 0, 1] + Self.parameterSets[0].unit + [0, 0, 1, 0x68, 0xCE, 0, 0, 1, 0x65, 0x88]
        for length in 0..<frame.count { _ = try? H264FrameHeader(parsing: Array(frame[..<length]).span.bytes) }
        for index in frame.indices {
            for value in 0...UInt8.max {
                var damaged = frame
                damaged[index] = value
                _ = try? H264FrameHeader(parsing: damaged.span.bytes)
            }
        }
        var numbers = SeededNumbers(36)
        for _ in 0..<3000 {
            let noise = (0..<Int.random(in: 1..<80, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            _ = try? H264FrameHeader(parsing: noise.span.bytes)
            for profile: UInt8 in [66, 100, 244] {
                let parameters = [0x67, profile, 0, 30] + noise
                _ = try? H264SequenceParameters(parameters.span.bytes, parameters.indices)
            }
        }
    }
}
