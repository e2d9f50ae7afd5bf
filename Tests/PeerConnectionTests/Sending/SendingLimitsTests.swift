import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite struct SendingLimitsTests {
    /// Returns a sender's limits for an answer with these additional lines.
    private func limits(adding lines: [String]) throws -> SendingLimits {
        var random = SeededGenerator(seed: 1)
        let now = Instant(nanoseconds: 0)
        func peer(_ part: PeerConnection.Part, _ media: [LocalIdentity.MediaKind]) throws -> PeerConnection {
            let identity = try LocalIdentity(media: media, unixTime: 1_700_000_000, random: &random)
            return try PeerConnection(
                as: part, identity: identity, configuration: PeerConnection.Configuration(),
                random: SeededGenerator(seed: 2))
        }
        var sender = try peer(.offerer, [.video(streamID: "alice#content", isContent: true)])
        var viewer = try peer(.answerer, [])
        let offer = try sender.makeOffer()
        let answer = try viewer.answer(offer: offer, now: now).description + lines.map { $0 + "\r\n" }.joined()
        try sender.accept(answer: SessionDescription.parse(answer), to: offer, now: now)
        return sender.mediaLimits(media: 0)
    }

    @Test("An answer without parameters sets no limits")
    func noParameters() throws {
        #expect(try limits(adding: []) == SendingLimits())
    }

    @Test("max-fs and max-fr limit size and rate, as Firefox writes them (RFC 7741 6.1)")
    func sizeAndRate() throws {
        let limits = try limits(adding: ["a=fmtp:96 max-fs=12288;max-fr=60"])
        #expect(limits.maximumMacroblocks == 12_288)
        #expect(limits.maximumFramesPerSecond == 60)
        #expect(limits.maximumBitrate == nil)
    }

    @Test(
        "Values that no encoder could reach are no limits",
        arguments: [
            "max-fs=47;max-fr=0.09", "max-fs=1;max-fr=1e-300", "max-fs=1048577;max-fr=1001",
            "max-fs=9223372036854775807;max-fr=1e300", "max-fs=99999999999999999999;max-fr=1e999",
        ])
    func beyondExtremes(parameters: String) throws {
        #expect(try limits(adding: ["a=fmtp:96 \(parameters)"]) == SendingLimits())
    }

    @Test("The smallest and the largest values are kept")
    func extremes() throws {
        let least = try limits(adding: ["a=fmtp:96 max-fs=48;max-fr=0.1"])
        #expect(least.maximumMacroblocks == 48 && least.maximumFramesPerSecond == 0.1)
        let most = try limits(adding: ["a=fmtp:96 max-fs=1048576;max-fr=1000"])
        #expect(most.maximumMacroblocks == 1_048_576 && most.maximumFramesPerSecond == 1000)
    }

    @Test(
        "Values that are not positive numbers are no limits",
        arguments: ["max-fs=0;max-fr=0", "max-fs=-1;max-fr=nan", "max-fs=x;max-fr=y", "max-fs=;max-fr=inf"])
    func notPositive(parameters: String) throws {
        #expect(try limits(adding: ["a=fmtp:96 \(parameters)"]) == SendingLimits())
    }
}
