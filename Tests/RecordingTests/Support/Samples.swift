import Foundation
import RTCShareMedia
import RTCShareRTP

@testable import RTCShareRecording

/// Frames and packets with valid headers and no valid content.
enum Samples {
    /// The first bytes of a VP8 key frame of this size (RFC 6386 §9.1), with some more that tell it from others.
    static func keyFrame(_ size: PixelSize = PixelSize(width: 640, height: 360), tag: Int = 0) -> [UInt8] {
        let sides = [size.width, size.height].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8 & 0x3F)] }
        return [0x10, 0, 0, 0x9D, 0x01, 0x2A] + sides + bytes(tag)
    }

    /// The first bytes of a VP8 frame that builds on another.
    static func interFrame(tag: Int = 0) -> [UInt8] { [0x11, 0, 0] + bytes(tag) }

    /// An Opus packet of 20 ms of the transform in stereo (RFC 6716 §3.1).
    static func packet(tag: Int = 0) -> [UInt8] { [0xFC] + bytes(tag) }

    /// Whether a packet is one of ``packet(tag:)``, and not made up.
    static func tag(of packet: [UInt8]) -> Int? {
        packet.count == 5 ? packet[1...].reduce(0) { $0 << 8 | Int($1) } : nil
    }

    private static func bytes(_ tag: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
    }
}

extension RecordedFrame {
    /// Creates a VP8 frame.
    static func vp8(_ data: [UInt8], quarterTurns: Int = 0) -> RecordedFrame {
        RecordedFrame(data: data, format: .vp8, quarterTurns: quarterTurns)
    }
}

/// A temporary directory, which is removed with its content.
final class TestFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rtcshare-recording-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
