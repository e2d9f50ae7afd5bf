import Foundation
import TestSupport
import Testing

@testable import RTCShareRTP

@Suite("Open bitstream units")
struct OpenBitstreamUnitTests {
    /// A sequence header of libaom for 1920x1080: main profile, level 4.0.
    private static let sequenceHeader: [UInt8] = [
        0x0A, 0x0B, 0x00, 0x00, 0x00, 0x42, 0xAB, 0xBF, 0xC3, 0x77, 0x46, 0x80, 0x20,
    ]
    /// The beginning of a shown key frame, and of a frame that is predicted.
    private static let keyFrame: [UInt8] = [0x32, 0x02, 0x10, 0x00]
    private static let laterFrame: [UInt8] = [0x32, 0x02, 0x30, 0x00]

    private func units(_ frame: [UInt8]) throws -> [OpenBitstreamUnit] {
        var units: [OpenBitstreamUnit] = []
        while let unit = try OpenBitstreamUnit.next(in: frame.span.bytes, at: units.last?.bytes.upperBound ?? 0) {
            units.append(unit)
        }
        return units
    }

    @Test("Units are read with their sizes, and the last one may have none")
    func reading() throws {
        let frame: [UInt8] = [0x12, 0x00] + Self.sequenceHeader + [0x30, 0x10, 0x00, 0x01]
        #expect(
            try units(frame) == [
                OpenBitstreamUnit(kind: .temporalDelimiter, bytes: 0..<2, payload: 2..<2),
                OpenBitstreamUnit(kind: .sequenceHeader, bytes: 2..<15, payload: 4..<15),
                OpenBitstreamUnit(kind: .frame, bytes: 15..<19, payload: 16..<19),
            ])
        // With an extension, a reserved type, and a size in two bytes.
        #expect(
            try units([0x7E, 0x00, 0x81, 0x00, 0xFF, 0x4A, 0x00]) == [
                OpenBitstreamUnit(kind: .padding, bytes: 0..<5, payload: 4..<5),
                OpenBitstreamUnit(kind: nil, bytes: 5..<7, payload: 7..<7),
            ])
    }

    @Test(
        "A forbidden bit, or a size that is cut, too long or without end, is an error",
        arguments: [
            [0x80], [0x36], [0x32], [0x32, 0x80], [0x32, 0x02, 0x10], [0x32] + [UInt8](repeating: 0x80, count: 9),
            [0x32, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x00],
        ])
    func errors(frame: [UInt8]) {
        #expect(throws: RTPError.self) { try units(frame) }
        #expect(throws: RTPError.self) { try AV1FrameHeader(parsing: frame.span.bytes) }
    }

    @Test("A frame is a key frame if it has a sequence header and shows a key frame")
    func keyFrames() throws {
        let whole = try AV1FrameHeader(parsing: (Self.sequenceHeader + Self.keyFrame).span.bytes)
        #expect(whole.isKeyFrame && whole.width == 1920 && whole.height == 1080)
        for frame in [
            Self.keyFrame, Self.laterFrame, Self.sequenceHeader, Self.sequenceHeader + Self.laterFrame,
            // Not shown, and an earlier frame that is shown.
            Self.sequenceHeader + [0x32, 0x02, 0x00, 0x00], Self.sequenceHeader + [0x1A, 0x01, 0x80],
        ] {
            #expect(try !AV1FrameHeader(parsing: frame.span.bytes).isKeyFrame, "\(frame)")
        }
    }

    private func sequenceHeader(_ frame: [UInt8]) throws -> AV1SequenceHeader {
        let unit = try #require(try OpenBitstreamUnit.next(in: frame.span.bytes, at: 0))
        return try AV1SequenceHeader(frame.span.bytes, unit)
    }

    @Test("A sequence header has the profile, the level, the size and the sample format")
    func sequenceHeaders() throws {
        let header = try sequenceHeader(Self.sequenceHeader)
        #expect(header.profile == 0 && header.level == 8 && !header.isHighTier)
        #expect(header.width == 1920 && header.height == 1080)
        #expect(try header.readSampleFormat() == 0x0C)
        #expect(throws: RTPError.self) {
            try sequenceHeader([0x0A, 0x09] + Self.sequenceHeader[2..<11]).readSampleFormat()
        }
    }

    @Test(
        "Each sample format is read as av1C has it",
        arguments: [
            (0, "0000" + "01", 0x0D), (0, "0100", 0x1C), (1, "000", 0x00), (1, "01" + "000000010000110100000000", 0x00),
            (2, "10000", 0x48), (2, "11000" + "11" + "10", 0x6E), (2, "11000" + "10", 0x68), (2, "11000" + "0", 0x60),
        ] as [(Int, String, UInt8)])
    func sampleFormats(profile: Int, colors: String, format: UInt8) throws {
        // A reduced header of level 2.1 and one pixel, with all tools off.
        let text = String(profile + 8, radix: 2).dropFirst() + "11" + "00001" + "00000000" + "00" + "000000" + colors
        let bits = text.padding(toLength: 64, withPad: "0", startingAt: 0)
        let payload = stride(from: 0, to: 64, by: 8).map { place in
            UInt8(bits.dropFirst(place).prefix(8), radix: 2) ?? 0
        }
        #expect(try sequenceHeader([0x08] + payload).readSampleFormat() == format)
    }

    @Test("Headers that are cut, changed or random are an error or read, without a trap")
    func garbage() {
        let frame = Self.sequenceHeader + Self.keyFrame
        for length in 0..<frame.count { _ = try? AV1FrameHeader(parsing: Array(frame[..<length]).span.bytes) }
        for index in frame.indices {
            for value in 0...UInt8.max {
                var damaged = frame
                damaged[index] = value
                _ = try? AV1FrameHeader(parsing: damaged.span.bytes)
                _ = try? sequenceHeader(damaged).readSampleFormat()
            }
        }
        var numbers = SeededNumbers(36)
        for _ in 0..<3000 {
            let noise = (0..<Int.random(in: 0..<60, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            _ = try? AV1FrameHeader(parsing: noise.span.bytes)
            _ = try? AV1FrameHeader(parsing: ([0x0A, UInt8(noise.count)] + noise + Self.keyFrame).span.bytes)
        }
    }
}
