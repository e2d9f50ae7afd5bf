import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import TestSupport
import Testing

@testable import RTCShareRecording

@Suite("Codecs of recordings")
struct RecordedCodecTests {
    /// A sequence header of libaom for 1920x1080: main profile, level 4.0, 4:2:0 with 8 bits.
    private static let sequenceHeader: [UInt8] = [
        0x0A, 0x0B, 0x00, 0x00, 0x00, 0x42, 0xAB, 0xBF, 0xC3, 0x77, 0x46, 0x80, 0x20,
    ]
    private static let av1KeyFrame = sequenceHeader + [0x32, 0x02, 0x10, 0x00]
    /// A sequence and a picture parameter set, and the beginning of an IDR slice.
    private static let parameterSets: [UInt8] = [
        0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE4, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80,
    ]
    private static let slice: [UInt8] = [0, 0, 1, 0x65, 0x88, 0x84, 0x21]

    @Test("Blocks of AV1 have OBUs with sizes, without delimiters and padding")
    func av1Blocks() throws {
        let (header, keyFrame) = (Self.sequenceHeader, Self.av1KeyFrame)
        let unsized: [UInt8] = [0x30, 0x10, 0x00]
        #expect(try RecordedCodec.av1.block([0x12, 0x00] + header + [0x7A, 0x01, 0x80] + unsized) == keyFrame)
        #expect(
            try RecordedCodec.av1.block([0x34, 0x08] + [UInt8](repeating: 1, count: 300)).starts(with: [
                0x36, 0x08, 0xAC, 0x02, 1,
            ]))
        #expect(throws: RTPError.self) { try RecordedCodec.av1.block([0x32, 0x09, 0x10]) }
    }

    @Test("The private data of AV1 has the values and the bytes of the sequence header")
    func av1PrivateData() throws {
        #expect(try RecordedCodec.av1.privateData(Self.av1KeyFrame) == [0x81, 0x08, 0x0C, 0x00] + Self.sequenceHeader)
        #expect(throws: RTPError.self) { try RecordedCodec.av1.privateData([0x32, 0x02, 0x10, 0x00]) }
    }

    @Test("Blocks of H.264 have NAL units after their lengths")
    func h264Blocks() throws {
        #expect(
            try RecordedCodec.h264.block(Self.parameterSets + Self.slice) == [
                0, 0, 0, 9, 0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE4, 0, 0, 0, 4, 0x68, 0xCE, 0x3C, 0x80,
                0, 0, 0, 4, 0x65, 0x88, 0x84, 0x21,
            ])
        #expect(throws: RTPError.self) { try RecordedCodec.h264.block([0x65, 0x88]) }
    }

    @Test("The private data of H.264 has the profile, the level and the parameter sets")
    func h264PrivateData() throws {
        #expect(
            try RecordedCodec.h264.privateData(Self.parameterSets + Self.slice) == [
                1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 9, 0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE4, 1, 0, 4,
                0x68, 0xCE, 0x3C, 0x80,
            ])
        // The high profile has four bytes more.
        var high = Self.parameterSets + Self.slice
        high[5] = 100
        #expect(try RecordedCodec.h264.privateData(high).suffix(4) == [0xFD, 0xF8, 0xF8, 0])
        #expect(throws: RTPError.self) { try RecordedCodec.h264.privateData(Self.slice) }
    }

    @Test("Data that is cut, changed or random is an error or converted, without a trap")
    func garbage() {
        var numbers = SeededNumbers(36)
        for frame in [Self.av1KeyFrame, Self.parameterSets + Self.slice] {
            for index in 0..<2000 {
                var data = Array(frame.prefix(Int.random(in: 0...frame.count, using: &numbers)))
                if index.isMultiple(of: 2), let place = data.indices.randomElement(using: &numbers) {
                    data[place] = .random(in: 0...255, using: &numbers)
                }
                for codec in [RecordedCodec.vp8, .av1, .h264] {
                    _ = try? codec.block(data)
                    _ = try? codec.privateData(data)
                }
            }
        }
    }

    @Test("A track begins with a key frame that has what decoders need")
    func beginning() {
        var line = PictureLine()
        func add(_ data: [UInt8], at milliseconds: Int) {
            let frame = RecordedFrame(data: data, format: .h264)
            _ = line.add(frame, as: .h264, at: .milliseconds(milliseconds))
        }
        add(Self.slice, at: 0)
        add(Self.parameterSets + Self.slice, at: 40)
        add(Self.slice, at: 80)
        let frames = line.take(until: nil)
        #expect(frames.map(\.time) == [.milliseconds(40), .milliseconds(80)])
        #expect(frames.map { $0.video != nil } == [true, false])
    }

    @Test("A frame of another codec is dropped until a key frame")
    func codecChange() {
        var line = PictureLine()
        let av1Frame = RecordedFrame(data: [0x32, 0x02, 0x30, 0x00], format: .av1)
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        _ = line.add(av1Frame, as: .av1, at: .milliseconds(40))
        _ = line.add(RecordedFrame(data: Self.av1KeyFrame, format: .av1), as: .av1, at: .milliseconds(80))
        _ = line.add(av1Frame, as: .av1, at: .milliseconds(120))
        _ = line.add(.vp8(Samples.interFrame()), as: .vp8, at: .milliseconds(160))
        let frames = line.take(until: nil)
        #expect(frames.map(\.time) == [.zero, .milliseconds(80), .milliseconds(120)])
        #expect(frames.map(\.video?.codecID) == ["V_VP8", "V_AV1", nil])
        #expect(frames[1].video?.size == PixelSize(width: 1920, height: 1080))
    }
}
