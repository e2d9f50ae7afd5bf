import Foundation
import RTCShareMedia
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareRTP
@testable import RTCShareVideoCoding

/// GStreamer's payloader and depayloader against this library's payload format, with frames of OpenH264.
@Suite(
    "H.264 payloads and GStreamer",
    .enabled(if: CodecLibraries.hasH264 && CodecLibraries.hasGStreamer, "GStreamer is not installed"))
struct H264PayloadJudgeTests {
    /// Frames whose changes need one packet or many, with two key frames.
    private static func frames() throws -> [[UInt8]] {
        let coder = try H264Coder(.init(size: PixelSize(width: 320, height: 240)))
        let picture = TextPicture(size: PixelSize(width: 320, height: 240))
        return try (0..<12).map { index in
            let source = picture.scrolled(by: index < 4 ? 0 : index * 2).coloured(1)
            let frame = try #require(try coder.encode(source, quantizer: 24, asKeyFrame: index == 6))
            return frame.data
        }
    }

    private static func units(_ frame: [UInt8]) throws -> [[UInt8]] {
        try AnnexB.units(of: frame.span.bytes).map { Array(frame[$0.bytes]) }
    }

    private static func launch(_ pipeline: String) throws {
        let process = Process()
        // After some errors GStreamer does not end.
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["60", "gst-launch-1.0", "-q"] + pipeline.split(separator: " ").map(String.init)
        let errors = Pipe()
        process.standardError = errors
        try process.runAlone()
        let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(words)")
    }

    /// The packets of frames, each after its length (RFC 4571).
    private static func stream(_ frames: [[UInt8]], limit: Int) throws -> Data {
        var stream = Data()
        var number = SequenceNumber(60_000)
        for (index, data) in frames.enumerated() {
            let frame = PacketizedFrame(
                data, format: .h264, number: FrameNumber(0), isKeyFrame: false, captureTime: .milliseconds(index * 40),
                width: 320, height: 240, maximumPayloadByteCount: limit)
            for fragment in 0..<frame.fragmentCount {
                let header = OutgoingRTPHeader(
                    marker: frame.isLastFragment(fragment), payloadType: PayloadType(masking: 98),
                    sequenceNumber: number, timestamp: frame.timestamp(offset: RTPTimestamp(7)),
                    source: SynchronizationSource(1))
                var bytes = [UInt8](repeating: 0, count: 12 + frame.payloadByteCount(at: fragment))
                try bytes.withUnsafeMutableBytes { memory in
                    var writer = ByteWriter(memory.mutableBytes)
                    try header.write(to: &writer, map: HeaderExtensionMap())
                    try frame.writePayload(at: fragment, to: &writer)
                }
                stream += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
                number = number.next
            }
        }
        return stream
    }

    @Test(
        "GStreamer reads the same NAL units from our packets",
        arguments: [60, 300, PacketizedFrame.maximumPayloadByteCount])
    func depayloading(limit: Int) throws {
        let folder = try TemporaryFolder()
        let frames = try Self.frames()
        try Self.stream(frames, limit: limit).write(to: folder.file("packets"))
        try Self.launch(
            "filesrc location=\(folder.file("packets").path) ! "
                + "application/x-rtp-stream,media=video,clock-rate=90000,encoding-name=H264,payload=98 ! "
                + "rtpstreamdepay ! rtph264depay ! video/x-h264,stream-format=byte-stream,alignment=au ! "
                + "filesink location=\(folder.file("frames").path)")
        let read = try [UInt8](Data(contentsOf: folder.file("frames")))
        #expect(try Self.units(read) == frames.flatMap(Self.units))
    }

    @Test("We read the same NAL units from GStreamer's packets", arguments: ["none", "zero-latency", "max-stap"])
    func payloading(aggregation: String) throws {
        let folder = try TemporaryFolder()
        let frames = try Self.frames()
        try Data(frames.flatMap { $0 }).write(to: folder.file("frames"))
        try Self.launch(
            "filesrc location=\(folder.file("frames").path) ! h264parse ! "
                + "video/x-h264,stream-format=byte-stream,alignment=au ! "
                + "rtph264pay mtu=300 aggregate-mode=\(aggregation) ! "
                + "rtpstreampay ! filesink location=\(folder.file("packets").path)")
        let bytes = try [UInt8](Data(contentsOf: folder.file("packets")))
        var pieces: [RTPTimestamp: [[UInt8]]] = [:]
        var order: [RTPTimestamp] = []
        var start = 0
        while start + 2 <= bytes.count {
            let end = start + 2 + (Int(bytes[start]) << 8 | Int(bytes[start + 1]))
            let packet = Array(bytes[(start + 2)..<end])
            start = end
            let header = try RTPHeader(parsing: packet.span.bytes)
            let payload = Array(packet[header.payloadRange])
            let (content, piece) = try H264PayloadFormat.h264.read(payload.span.bytes)
            if pieces[header.timestamp] == nil {
                order.append(header.timestamp)
                #expect(content.start != .none)
            }
            pieces[header.timestamp, default: []].append(Array(payload[piece]))
        }
        let read = try order.flatMap { try Self.units(H264PayloadFormat.h264.join(pieces[$0] ?? [])) }
        // The parser puts delimiters before frames.
        #expect(read.filter { $0[0] & 0x1F != 9 } == (try frames.flatMap(Self.units)))
    }
}
