import Foundation
import RTCShareMedia
import RTCShareNetworkSimulation
import RTCShareRTP
import RTCShareSDP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Whether the libraries are installed. Where everything should be, tests fail without them.
private let canRun =
    ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
    || AV1Coder.unavailability == nil && AV1Decoder.unavailability == nil

/// Calls with frames of libaom.
@Suite("AV1 calls", .enabled(if: canRun, "libaom3 or libdav1d6 is not installed"))
struct AV1CallTests {
    private static let both: [any VideoPayloadFormat] = [.vp8, .av1]

    /// A call that is connected, with an encoder and the packets that reach the link.
    private struct Call {
        let call: SimulatedCall
        let coder: AV1Coder
        /// The plain headers of the sender's RTP packets.
        let packets = Box<[(header: RTPHeader, extensions: HeaderExtensions, size: Int)]>([])
        /// The encoded frames.
        private(set) var sent: [AV1Coder.Frame] = []
        private var number = FrameNumber(40_000)
        private let picture = TextPicture(size: PixelSize(width: 640, height: 480))

        init(
            seed: UInt64, conditions: LinkConditions = LinkConditions(delay: .milliseconds(5)),
            editAnswer: @escaping (String) -> String = { $0 }
        ) throws {
            var options = SimulatedCall.Options()
            options.sender.videoFormats = both
            options.viewer.videoFormats = both
            options.editAnswer = editAnswer
            call = try SimulatedCall(conditions: conditions, seed: seed, options: options)
            coder = try AV1Coder(.init(size: picture.size))
            var map = HeaderExtensionMap()
            map[.dependencyDescriptor] = 8
            let packets = packets
            call.tap = { datagram, end in
                let bytes = datagram.bytes.span.bytes
                guard end == .left, DatagramKind(bytes) == .rtp, let header = try? RTPHeader(parsing: bytes) else {
                    return
                }
                packets.value.append((header, HeaderExtensions(header, in: bytes, map: map), bytes.byteCount))
            }
            call.run(for: .milliseconds(2000), sendsFrames: false)
            try #require(call.record.connected != nil)
        }

        /// Sends frames of scrolled text, 30 a second.
        mutating func send(_ count: Int) throws {
            for _ in 0..<count {
                let index = sent.count
                let isKeyFrame = call.record.keyFrameRequests > keyFrameRequests || sent.isEmpty
                keyFrameRequests = call.record.keyFrameRequests
                let scrolled = picture.scrolled(by: index * 2).coloured(1)
                let frame = try #require(try coder.encode(scrolled, quantizer: 45, asKeyFrame: isKeyFrame))
                sent.append(frame)
                call.sender.send(
                    PacketizedFrame(
                        frame.data, format: .av1, number: number.takeNext(), isKeyFrame: frame.isKeyFrame,
                        captureTime: .nanoseconds(call.now.nanoseconds), width: 640, height: 480, stream: 1), media: 0,
                    now: call.now)
                call.run(for: .milliseconds(33), sendsFrames: false)
            }
        }

        private var keyFrameRequests = 0

        /// The dependency descriptors of packets with a payload type.
        func descriptors(_ payloadType: UInt8) -> [DependencyDescriptor?] {
            packets.value.filter { $0.header.payloadType.rawValue == payloadType }.map(
                \.extensions.dependencyDescriptor)
        }
    }

    @Test("Frames arrive as they were encoded, in packets of at most 1200 bytes")
    func frames() throws {
        var call = try Call(seed: 3601)
        try call.send(12)
        call.call.run(for: .milliseconds(500), sendsFrames: false)
        let received = call.call.record.frames
        #expect(received.map(\.data) == call.sent.map(\.data))
        #expect(received.map(\.isKeyFrame) == call.sent.map(\.isKeyFrame) && received.first?.isKeyFrame == true)
        #expect(received.first?.size?.width == 640 && received.first?.size?.height == 480)
        #expect(received.contains { $0.packetCount > 5 } && call.packets.value.allSatisfy { $0.size <= 1200 })
        let decoder = try AV1Decoder()
        for frame in received {
            let shown = try decoder.decode(frame.data)
            #expect(shown?.size == PixelSize(width: 640, height: 480))
        }
    }

    @Test("Every packet has a dependency descriptor, and the first one of a key frame the structure")
    func descriptors() throws {
        var call = try Call(seed: 3602)
        call.call.sendFrame(media: 0)
        call.call.run(for: .milliseconds(500), sendsFrames: false)
        try call.send(5)
        call.call.run(for: .milliseconds(500), sendsFrames: false)
        #expect(call.call.record.frames.map(\.format.encodingName) == ["VP8"] + [String](repeating: "AV1", count: 5))
        #expect(call.descriptors(96).allSatisfy { $0 == nil } && !call.descriptors(96).isEmpty)
        let descriptors = call.descriptors(98).compactMap { $0 }
        #expect(descriptors.count == call.descriptors(98).count)
        #expect(descriptors.filter(\.startsFrame).count == 5 && descriptors.filter(\.endsFrame).count == 5)
        #expect(descriptors.compactMap(\.structure) == [.init(width: 640, height: 480)])
        #expect(descriptors.first?.structure != nil && Set(descriptors.map(\.template)) == [0, 1])
        // The frames of the other codec have the numbers before, although this stream began with another number.
        let numbers = call.call.record.frames.compactMap(\.pictureID)
        #expect(numbers.map(\.width) == [15, 16, 16, 16, 16, 16])
        #expect(numbers.map(\.value) == (0x7FF0..<0x7FF6).map { $0 })
        #expect(descriptors.last?.number == FrameNumber(0x7FF5))
    }

    @Test("Lost packets are retransmitted with their dependency descriptors", arguments: [0.02, 0.1])
    func loss(fraction: Double) throws {
        var call = try Call(seed: 3603, conditions: LinkConditions(loss: fraction, delay: .milliseconds(20)))
        try call.send(90)
        call.call.run(for: .seconds(2), sendsFrames: false)
        let received = call.call.record.frames
        #expect(received.map(\.data) == call.sent.map(\.data))
        #expect(call.call.record.keyFrameRequests == 0)
        let retransmitted = call.descriptors(99).compactMap { $0 }
        #expect(!retransmitted.isEmpty && call.call.viewer.receivers.media[0].video?.statistics.nackCount ?? 0 > 0)
        #expect(retransmitted.allSatisfy { descriptor in call.descriptors(98).contains(descriptor) })
        let numbers = received.compactMap(\.pictureID)
        #expect(zip(numbers.dropFirst(), numbers).allSatisfy { $0.distance(from: $1) == 1 })
    }

    @Test("A viewer without the dependency descriptor receives none, and the frames")
    func withoutDescriptors() throws {
        var call = try Call(seed: 3604, conditions: LinkConditions(loss: 0.05, delay: .milliseconds(20))) {
            $0.split(separator: "\r\n").filter { !$0.hasPrefix("a=extmap:8 ") }.map { $0 + "\r\n" }.joined()
        }
        try call.send(60)
        call.call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.descriptors(98).allSatisfy { $0 == nil } && call.descriptors(98).count > 60)
        #expect(call.call.record.frames.map(\.data) == call.sent.map(\.data))
        #expect(call.call.record.frames.allSatisfy { $0.pictureID == nil })
    }
}
