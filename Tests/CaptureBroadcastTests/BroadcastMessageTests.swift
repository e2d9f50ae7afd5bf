import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCShareCaptureBroadcast

@Suite struct BroadcastMessageTests {
    static let picture = PictureDescription(
        timestamp: .nanoseconds(123_456_789_012), rotation: .quarter, format: .i420,
        size: PixelSize(width: 641, height: 481), strides: [704, 384, 384],
        parts: [PixelRectangle(x: 2, y: 4, size: PixelSize(width: 639, height: 8))])

    static let messages: [BroadcastMessage] = [
        .hello(version: 1, transport: .tcp), .hello(version: 1, transport: .sharedMemory), .memory, .picture(picture),
        .picture(
            PictureDescription(
                timestamp: .zero, rotation: .upright, format: .bgra, size: PixelSize(width: 1, height: 1), strides: [4],
                parts: nil)),
        .sound(AudioFrame(samples: [0.5, -1, 0, 1], channels: 2, sampleRate: 44_100, timestamp: .milliseconds(20))),
        .voice(AudioFrame(samples: [0.5, -1], channels: 1, sampleRate: 48_000, timestamp: .milliseconds(40))),
        .interrupted(.sourceMuted), .interrupted(.audioUnavailable(reason: "the microphone is away")),
        .interrupted(.minimized), .interrupted(.movedOffScreen), .interrupted(.awaitingPicture),
        .interrupted(.heldByDesktop), .interrupted(.cameraUnavailable(reason: "the camera 'front' is away")),
        .interrupted(.displayUnavailable(reason: "the output 'right' is off")), .interrupted(.awaitingChoice),
        .interrupted(.extensionUnavailable(reason: "gone")), .resumed,
        .hint(.text), .hint(.none), .finished(error: nil), .finished(error: "the display was lost"), .welcome,
        .refused("no"), .consumed, .ended,
    ]

    private static func read(_ bytes: [UInt8]) throws -> BroadcastMessage {
        let (kind, length) = try Array(bytes.prefix(4)).withRawSpan { try BroadcastMessage.head($0) }
        #expect(length == bytes.count - 4)
        return try Array(bytes.dropFirst(4)).withRawSpan { try BroadcastMessage(kind: kind, body: $0) }
    }

    @Test("A written message is read unchanged", arguments: messages)
    func roundTrip(message: BroadcastMessage) throws {
        #expect(try Self.read(message.encoded) == message)
    }

    @Test("A body that is truncated at any position is an error, and so is one that is too long", arguments: messages)
    func cut(message: BroadcastMessage) throws {
        let bytes = message.encoded
        let body = Array(bytes.dropFirst(4))
        let isText =
            switch message {
            case .refused, .finished(.some), .interrupted(.extensionUnavailable), .interrupted(.cameraUnavailable),
                .interrupted(.displayUnavailable), .interrupted(.audioUnavailable), .sound, .voice:
                true
            default: false
            }
        for length in body.indices where !(isText && length > 0) {
            if case .refused = message { continue }
            #expect(throws: BroadcastError.self) {
                try Array(body.prefix(length)).withRawSpan { try BroadcastMessage(kind: bytes[0], body: $0) }
            }
        }
        guard !isText else { return }
        #expect(throws: BroadcastError.self) {
            try (body + [0]).withRawSpan { try BroadcastMessage(kind: bytes[0], body: $0) }
        }
    }

    @Test("A message with any damaged byte is rejected or is written as it was read", arguments: messages)
    func damaged(message: BroadcastMessage) throws {
        let bytes = message.encoded
        for index in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] = value
                let body = Array(damaged.dropFirst(4))
                if let read = try? body.withRawSpan({ try BroadcastMessage(kind: damaged[0], body: $0) }) {
                    // By their bytes: samples may be no numbers, which equal nothing.
                    #expect(try Self.read(read.encoded).encoded == read.encoded)
                }
                if let head = try? Array(damaged.prefix(4)).withRawSpan({ try BroadcastMessage.head($0) }) {
                    #expect(head.kind == damaged[0] && head.length <= BroadcastMessage.maximumBody)
                }
            }
        }
    }

    @Test("A header with a length above the limit is rejected")
    func longBody() {
        #expect(throws: BroadcastError.network("a message of 16777215 bytes, of which at most 262144 are taken")) {
            try [3, 0xFF, 0xFF, 0xFF].withRawSpan { try BroadcastMessage.head($0) }
        }
    }

    @Test("A handshake of another program or another version is rejected")
    func strangers() {
        #expect(throws: BroadcastError.network("the other process is not rtcshare")) {
            try Array("SOMEBODY\u{0}\u{1}\u{0}".utf8).withRawSpan { try BroadcastMessage(kind: 1, body: $0) }
        }
        #expect(
            throws: BroadcastError.network(
                "the other process has version 3, and this one 2", remedy: "use the same version for both processes")
        ) {
            try Array("RTCSHARE\u{0}\u{3}\u{0}".utf8).withRawSpan { try BroadcastMessage(kind: 1, body: $0) }
        }
    }

    @Test(
        "Formats that are too large or empty are rejected",
        arguments: [
            (PixelSize(width: 0, height: 4), [64]), (PixelSize(width: 4, height: 16384), [64]),
            (PixelSize(width: 4, height: 4), [15]), (PixelSize(width: 4, height: 4), [16 + 4097]),
            (PixelSize(width: 16383, height: 16383), [65532]), (PixelSize(width: 4, height: 4), [Int(UInt32.max)]),
        ])
    func impossible(size: PixelSize, strides: [Int]) throws {
        let picture = PictureDescription(
            timestamp: .zero, rotation: .upright, format: .bgra, size: size, strides: strides, parts: nil)
        #expect(throws: BroadcastError.self) { try Self.read(BroadcastMessage.picture(picture).encoded) }
    }

    @Test("Control characters are removed from texts")
    func controlCharacters() throws {
        #expect(try Self.read(BroadcastMessage.refused("no\u{1B}[2J\r\nway").encoded) == .refused("no[2Jway"))
    }

    @Test("Damage on odd samples of chroma or beyond the frame is rejected")
    func parts() {
        for part in [
            PixelRectangle(x: 1, y: 0, size: PixelSize(width: 2, height: 2)),
            PixelRectangle(x: 0, y: 0, size: PixelSize(width: 3, height: 2)),
            PixelRectangle(x: 60, y: 0, size: PixelSize(width: 8, height: 2)),
            PixelRectangle(x: 0, y: 0, size: PixelSize(width: 0, height: 2)),
        ] {
            let picture = PictureDescription(
                timestamp: .zero, rotation: .upright, format: .i420, size: PixelSize(width: 64, height: 48),
                strides: [64, 32, 32], parts: [part])
            #expect(throws: BroadcastError.self) { try Self.read(BroadcastMessage.picture(picture).encoded) }
        }
    }
}
