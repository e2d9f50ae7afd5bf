import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import Testing

@Suite("Dependency descriptor negotiation")
struct DependencyDescriptorNegotiationTests {
    private static let line =
        "a=extmap:8 https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"

    private func offer(_ formats: [any VideoPayloadFormat]) throws -> SessionDescription {
        let source = try #require(Samples.content.source)
        return try Samples.offer(sections: [
            .video(codecs: NegotiableCodec.video(formats), source: source, isSlides: true)
        ])
    }

    private func answer(_ formats: [any VideoPayloadFormat], to offer: SessionDescription) throws -> SessionDescription
    {
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(formats)
        return try SessionDescription.parse(Negotiation.makeAnswer(to: offer, parameters).answer.description)
    }

    @Test("The extension is offered with AV1, and only then")
    func offered() throws {
        #expect(try offer([.vp8, .av1]).description.contains(Self.line))
        #expect(try !offer([.vp8]).description.contains("dependency-descriptor"))
    }

    @Test("The extension is accepted with AV1, and only then")
    func accepted() throws {
        let offer = try offer([.vp8, .av1])
        let answer = try answer([.av1], to: offer)
        #expect(answer.description.contains(Self.line))
        let media = try #require(try Negotiation.negotiate(offer: offer, answer: answer).acceptedMedia.first)
        #expect(media.extensionIDs[.dependencyDescriptor] == 8)
        #expect(try !self.answer([.vp8], to: offer).description.contains("dependency-descriptor"))
    }
}
