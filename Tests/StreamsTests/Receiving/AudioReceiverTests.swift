import Foundation
import RTCShareAudioCoding
import RTCShareLocks
import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// From received packets to audio, in real time.
@Suite(.timeLimit(.minutes(1))) struct AudioReceiverTests {
    private final class Sink: AudioSink {
        private let arrivals = AsyncStream.makeStream(of: AudioFrame.self)
        private let ends = Locked(0)

        var endCount: Int { ends.withLock { $0 } }

        func sourceDidEnd(error: (any Error)?) { ends.withLock { $0 += 1 } }

        func receive(_ frame: AudioFrame) { arrivals.continuation.yield(frame) }

        /// The frames up to the first from which on ten have sounded like a tone of 440 Hz: on a busy machine there may
        /// be breaks before.
        func framesUntilTone() async -> [AudioFrame] {
            var frames: [AudioFrame] = []
            for await frame in arrivals.stream {
                frames.append(frame)
                let left = frames.suffix(10).flatMap { $0.mixed(toChannels: 1).samples }
                let crossings = zip(left, left.dropFirst()).count { $0 < 0 && $1 >= 0 }
                if frames.count >= 30, abs(Double(crossings) * 48_000 / Double(left.count) - 440) < 15 { break }
            }
            return frames
        }
    }

    @Test(
        "Another stream in the same media section is separate audio",
        arguments: [("a", true, true), ("b", true, false), (nil, true, false), ("a", false, false)]
            as [(String?, Bool, Bool)])
    func anotherStream(streamID: String?, isActive: Bool, isSame: Bool) {
        let media = RemoteMedia(
            isVideo: false, streamID: streamID, trackID: nil, isContent: false, isActive: isActive, opus: nil)
        #expect(AudioReceiver(index: 0, of: "a").receives(media) == isSame)
    }

    /// Delivers packets of a tone of 440 Hz at intervals of 20 ms, some of them missing.
    private func play(_ count: Int, missing: Set<Int> = [], to receiver: AudioReceiver) async throws {
        for packet in try packets(count, missing: missing) {
            receiver.receive(packet)
            receiver.announced()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns packets that arrive when they are taken.
    private func packets(_ count: Int, missing: Set<Int>) throws -> some Sequence<ReceivedAudioPacket> {
        let encoder = try OpusEncoder(configuration: .init(channels: 2, application: .music))
        let payloads = try (0..<count).map { number -> (Int, [UInt8]) in
            let samples = (0..<1920).map { index in
                Float(0.5 * sin(2 * .pi * 440 * Double(number * 960 + index / 2) / 48_000))
            }
            guard case .packet(let payload) = try encoder.encode(samples) else { return (number, []) }
            return (number, payload)
        }
        return payloads.filter { !missing.contains($0.0) }.lazy.map { number, payload in
            ReceivedAudioPacket(
                payload: payload, sequenceNumber: Int64(number), timestamp: Int64(number) * 960, sampleCount: 960,
                arrival: MonotonicClock.now, captureTime: nil, level: nil, marker: number == 0)
        }
    }

    @Test("Packets are played in time, lost ones concealed, and counted")
    func playout() async throws {
        let receiver = AudioReceiver(index: 3)
        let sink = Sink()
        try receiver.add(sink)
        let playing = Task { try await play(300, missing: [10, 11], to: receiver) }
        let frames = await sink.framesUntilTone()
        playing.cancel()
        #expect(frames.allSatisfy { $0.channels == 2 && $0.sampleRate == 48_000 && $0.sampleCount == 960 })
        #expect(receiver.statistics.map { $0.concealedSamples > 0 } == true)
        #expect(receiver.statistics.map { $0.totalSamplesReceived >= 30 * 960 } == true)
        await receiver.finish()
        await receiver.finish()
        #expect(sink.endCount == 1)
        let late = Sink()
        try receiver.add(late)
        #expect(late.endCount == 1, "nothing follows")
    }

    @Test("Packets that are not Opus play nothing, and later ones play")
    func invalidPackets() async throws {
        let receiver = AudioReceiver(index: 3)
        let sink = Sink()
        try receiver.add(sink)
        for (number, payload) in [[], [0xFF], [0x03, 0xFF], [UInt8](repeating: 0xFF, count: 1500)].enumerated() {
            receiver.receive(
                ReceivedAudioPacket(
                    payload: payload, sequenceNumber: Int64(number) - 10, timestamp: Int64(number - 10) * 960,
                    sampleCount: 960, arrival: MonotonicClock.now, captureTime: nil, level: nil, marker: false))
            receiver.announced()
        }
        let playing = Task { try await play(300, to: receiver) }
        _ = await sink.framesUntilTone()
        playing.cancel()
        await receiver.finish()
    }
}
