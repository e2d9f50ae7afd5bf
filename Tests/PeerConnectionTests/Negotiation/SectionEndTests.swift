import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Sections that are rejected, end, and give way to others.
@Suite struct SectionEndTests {
    private static let screen = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)
    private static let voice = LocalIdentity.MediaKind.audio(streamID: "alice", isContent: false)

    /// A call that stands, with frames and sound flowing.
    private func makeCall(seed: UInt64, media: [LocalIdentity.MediaKind] = [screen]) throws -> SimulatedCall {
        let call = try SoundCallTests.makeCall(seed: seed, media: media)
        call.run(for: .seconds(1))
        try #require(call.record.connected != nil)
        return call
    }

    /// A description with these sections at port 0, and out of the bundle.
    private static func rejecting(_ indices: some Collection<Int>, in text: String) -> String {
        let isRejected = { (index: Int) in indices.contains(index) }
        let sections = text.split(separator: "\r\nm=").map(String.init)
        var rejected: Set<Substring> = []
        let edited = sections.enumerated().map { index, section in
            guard index > 0, isRejected(index - 1) else { return section }
            if let mid = section.split(separator: "\r\n").first(where: { $0.hasPrefix("a=mid:") }) {
                rejected.insert(mid.dropFirst("a=mid:".count))
            }
            var words = section.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            words[1] = "0"
            return words.joined(separator: " ")
        }
        return edited.joined(separator: "\r\nm=").split(separator: "\r\n").map { line in
            guard line.hasPrefix("a=group:BUNDLE") else { return String(line) }
            return line.split(separator: " ").filter { !rejected.contains($0) }.joined(separator: " ")
        }.joined(separator: "\r\n") + "\r\n"
    }

    // MARK: The last section

    /// Expects that new media can follow the ended media over the same transport.
    private func checkThatTheCallGoesOn(_ call: SimulatedCall, sections: Int) throws {
        let count = call.framesSent
        call.run(for: .seconds(2))
        #expect(call.framesSent == count && !call.isSending(0))
        #expect(call.record.failures.isEmpty && call.record.goodbyes == 0)
        let voice = try call.sender.addMedia(Self.voice)
        try call.renegotiate()
        let receiver = call.viewer.remoteMedia.count - 1
        #expect(call.viewer.remoteMedia.map(\.isActive).last == true)
        call.run(for: .seconds(2))
        #expect(call.isSending(voice))
        #expect(try #require(call.record.soundOf[receiver]).count > 90)
        #expect(try call.makeOffer().media.map { $0.port != 0 } == Array(repeating: false, count: sections) + [true])
    }

    @Test("A later offer may end every section; it is answered, and the transport continues")
    func offerEndsAll() throws {
        let call = try makeCall(seed: 811, media: [Self.screen, Self.voice])
        let text = try Self.rejecting([0, 1], in: call.makeOffer().description)
        let offer = try SessionDescription.parse(text)
        let answer = try SessionDescription.parse(call.viewer.answer(offer: offer, now: call.now).description)
        #expect(answer.media.map(\.port) == [0, 0])
        #expect(try answer.bundle()?.mids == [])
        #expect(call.viewer.remoteMedia.map(\.isActive) == [false, false])
        try call.sender.accept(answer: answer, to: offer, now: call.now)
        try checkThatTheCallGoesOn(call, sections: 2)
    }

    @Test("A later answer that rejects every section stops all media, and the transport continues")
    func answerRejectsAll() throws {
        let call = try makeCall(seed: 812)
        try call.renegotiate { Self.rejecting([0], in: $0) }
        #expect(!call.isSending(0))
        try checkThatTheCallGoesOn(call, sections: 1)
    }

    @Test("A later offer without acceptable sections is answered too")
    func unusableOffer() throws {
        let call = try makeCall(seed: 813)
        let offer = try call.makeOffer().description.replacing("VP8/90000", with: "H264/90000")
        let answer = try call.viewer.answer(offer: SessionDescription.parse(offer), now: call.now)
        #expect(answer.media.map(\.port) == [0])
        #expect(call.viewer.remoteMedia.map(\.isActive) == [false])
    }

    // MARK: This side's media

    @Test("Rejected media can be added again any number of times")
    func addedAgain() throws {
        let call = try makeCall(seed: 814)
        var index = try call.sender.addMedia(Self.voice)
        for _ in 0...PeerConnection.maximumMedia {
            let section = try call.makeOffer().media.count - 1
            try call.renegotiate { Self.rejecting([section], in: $0) }
            #expect(call.hasEnded(index) && !call.isSending(index))
            index = try call.sender.addMedia(Self.voice)
            #expect(!call.hasEnded(index))
        }
        try call.renegotiate()
        #expect(call.isSending(index) && call.isSending(0))
        call.run(for: .seconds(1))
        let receiver = try #require(call.viewer.remoteMedia.lastIndex { $0.isActive })
        #expect(try #require(call.record.soundOf[receiver]).count > 40)
        #expect(Set(call.sender.localMedia.map(\.source)).count == index + 1)
        let room = PeerConnection.maximumMedia - 2
        for _ in 0..<room { _ = try call.sender.addMedia(Self.voice) }
        #expect(throws: PeerConnectionError.tooManyMedia(limit: PeerConnection.maximumMedia)) {
            _ = try call.sender.addMedia(Self.voice)
        }
    }

    @Test("The agreement about media follows the newest descriptions")
    func agreements() throws {
        let call = try makeCall(seed: 815)
        let voice = try call.sender.addMedia(Self.voice)
        _ = try call.makeOffer()
        #expect(call.agreement(0) == .agreed && call.agreement(voice) == .pending && call.agreement(7) == .pending)
        // The peer does not receive what is offered, or rejects it.
        try call.renegotiate { $0.replacing("a=recvonly", with: "a=inactive") }
        #expect(call.agreement(0) == .refused && call.agreement(voice) == .refused)
        try call.renegotiate()
        #expect(call.agreement(0) == .agreed && call.agreement(voice) == .agreed)
        // To stop is no refusal, nor is it before or after a description says so.
        call.sender.setSending(false, media: 0, now: call.now)
        #expect(call.agreement(0) == .agreed)
        try call.renegotiate()
        #expect(call.agreement(0) == .pending)
        call.sender.setSending(true, media: 0, now: call.now)
        #expect(call.agreement(0) == .pending)
        try call.renegotiate { Self.rejecting([1], in: $0) }
        #expect(call.agreement(0) == .agreed && call.agreement(voice) == .refused)
        let other = try call.sender.addMedia(Self.voice)
        #expect(call.agreement(other) == .pending)
    }

    @Test("An answerer's media is refused by an offer that does not receive it")
    func answererMediaRefused() throws {
        let call = try makeCall(seed: 816)
        func exchange(_ edit: (String) -> String = { $0 }) throws {
            let offer = try SessionDescription.parse(edit(call.viewer.makeOffer().description))
            let answer = try SessionDescription.parse(call.sender.answer(offer: offer, now: call.now).description)
            try call.viewer.accept(answer: answer, to: offer, now: call.now)
        }
        try exchange { $0.replacing("a=recvonly", with: "a=inactive") }
        #expect(call.agreement(0) == .refused && !call.isSending(0))
        try exchange()
        #expect(call.agreement(0) == .agreed && call.isSending(0))
        call.sender.setSending(false, media: 0, now: call.now)
        try exchange()
        #expect(call.agreement(0) == .pending)
        call.sender.setSending(true, media: 0, now: call.now)
        try exchange { Self.rejecting([0], in: $0) }
        #expect(call.agreement(0) == .refused && call.hasEnded(0))
    }

    // MARK: The peer's media

    @Test(
        "The number of receivers stays small however often sections are rejected and reused",
        arguments: [1, PeerConnection.maximumMedia - 1])
    func receiversStayFew(voices: Int) throws {
        let call = try makeCall(seed: 817)
        for _ in 0..<voices { _ = try call.sender.addMedia(Self.voice) }
        let text = try call.makeOffer().description
        let mids = call.sender.localMedia.dropFirst().map(\.mid)
        for round in 0..<100 {
            // A peer that has other voices each time.
            var other = text.replacing("msid:alice ", with: "msid:guest\(round) ")
            for (index, mid) in mids.enumerated() {
                other = other.replacing("a=mid:\(mid)\r\n", with: "a=mid:r\(round)x\(index)\r\n")
                    .replacing(" \(mid)", with: " r\(round)x\(index)")
            }
            let offers = [other, Self.rejecting(Array(1...voices), in: other)]
            for offer in offers {
                let answer = try call.viewer.answer(offer: SessionDescription.parse(offer), now: call.now)
                let active = answer.media.count { $0.port != 0 }
                #expect(call.viewer.remoteMedia.count(where: \.isActive) == active)
                guard offer == other else { continue }
                #expect(active == voices + 1)
                let guests = call.viewer.remoteMedia.filter { $0.streamID == "guest\(round)" && $0.isActive }
                #expect(guests.count == voices)
            }
        }
        #expect(call.viewer.receivers.media.count <= Receivers.maximumCount + PeerConnection.maximumMedia)
        #expect(call.viewer.receivers.media.count { $0.source != nil } <= voices + 1)
        // The picture was not touched by any of it, and the sender's own voices are heard in the end.
        try call.renegotiate()
        let count = call.record.frames.count
        call.run(for: .seconds(1))
        #expect(call.record.frames.count > count + 25)
        let heard = call.viewer.remoteMedia.indices.filter {
            call.viewer.remoteMedia[$0].isActive && !call.viewer.remoteMedia[$0].isVideo
        }
        #expect(heard.count == voices)
        for receiver in heard { #expect(call.record.soundOf[receiver, default: []].count > 40) }
        #expect(call.record.failures.isEmpty && call.record.goodbyes == 0)
    }

    @Test("A goodbye after its section was reused is not reported as the peer's")
    func staleGoodbye() throws {
        let call = try makeCall(seed: 818)
        let mid = call.sender.localMedia[0].mid
        let text = try call.makeOffer().description
        let rejected = Self.rejecting([0], in: text)
        _ = try call.viewer.answer(offer: SessionDescription.parse(rejected), now: call.now)
        let other = text.replacing(mid, with: "zzz").replacing("a=sendonly", with: "a=inactive")
        _ = try call.viewer.answer(offer: SessionDescription.parse(other), now: call.now)
        #expect(call.viewer.receivers.media[0].source == nil && !call.viewer.receivers.media[0].isActive)
        call.sender.setSending(false, media: 0, now: call.now)
        call.run(for: .seconds(1))
        #expect(call.record.goodbyes == 0)
        call.sender.close(now: call.now)
        call.run(for: .seconds(1))
        #expect(call.record.goodbyes == 1)
    }
}
