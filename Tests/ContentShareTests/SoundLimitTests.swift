import Foundation
import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SoundLimitTests {
    /// Returns the bitrate of a second of a tone that Alice sends to a viewer whose answer has these lines.
    private func rate(lines: String) async throws -> Int {
        let pair = try await Pair([.microphone], connects: false)
        let offer = try await pair.alice.connection.makeOffer()
        let answer = try await pair.bob.connection.answer(offer: offer).description
        try await pair.alice.connection.accept(
            answer: .parse(answer.replacing(/c=IN[^\r\n]*\r\n/) { "\($0.output)\(lines)" }), to: offer)
        let source = try ToneSource(frequency: 440)
        try source.start()
        try await pair.alice.startMicrophone(source: source, parameters: AudioEncodingParameters(isVoice: false))
        await pair.sounds.blocks.wait { $0.count >= 50 }
        source.stop()
        let sent = await pair.alice.stats().outboundRTP.values.first?.sent
        await pair.end()
        let (bytes, packets) = (sent?.bytesSent ?? 0, sent?.packetsSent ?? 0)
        return packets > 0 ? Int(bytes / packets) * 8 * 50 : 0
    }

    @Test("Audio is sent with the bitrate that the viewer's answer allows")
    func soundLimit() async throws {
        let free = try await rate(lines: "")
        let limited = try await rate(lines: "b=TIAS:24000\r\n")
        #expect(free > 60_000 && (15_000...26_000).contains(limited), "\(free), \(limited)")
    }
}
