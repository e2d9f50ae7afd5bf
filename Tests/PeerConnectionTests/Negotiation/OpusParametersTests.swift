import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import Testing

@Suite("Opus format parameters (RFC 7587 §6.1)")
struct OpusParametersTests {
    private func parameters(_ text: String) -> OpusParameters {
        OpusParameters(FormatParametersAttribute(format: "111", text: text))
    }

    @Test("Without a=fmtp the defaults apply: one channel, no limits")
    func defaults() {
        #expect(OpusParameters(nil) == OpusParameters())
        #expect(parameters("") == OpusParameters())
        #expect(OpusParameters().formatParameters.isEmpty)
    }

    @Test("Every parameter is parsed and written unchanged")
    func all() {
        let text =
            "minptime=10;ptime=40;maxptime=60;maxplaybackrate=16000;maxaveragebitrate=20000;"
            + "useinbandfec=1;stereo=1;cbr=1;usedtx=1"
        let read = parameters(text)
        #expect(read.minimumPacketTime == .milliseconds(10))
        #expect(read.packetTime == .milliseconds(40))
        #expect(read.maximumPacketTime == .milliseconds(60))
        #expect(read.maximumPlaybackRate == 16_000)
        #expect(read.maximumAverageBitrate == .kilobitsPerSecond(20))
        #expect(read.usesInbandFEC && read.isStereo && read.isConstantBitrate && read.usesDTX)
        #expect(read.formatParameters == text)
        #expect(parameters(" STEREO = 1 ; unknown ; useinbandfec=0;sprop-stereo=1").isStereo)
    }

    /// Parameters of a peer, and their text after parsing.
    static let hostile: [(text: String, kept: String)] = [
        ("maxaveragebitrate=-1", ""),
        ("maxaveragebitrate=0", ""),
        ("maxaveragebitrate=1", "maxaveragebitrate=6000"),
        ("maxaveragebitrate=999999999999", "maxaveragebitrate=510000"),
        ("maxaveragebitrate=99999999999999999999999999", ""),
        ("maxaveragebitrate=64k", ""),
        ("maxplaybackrate=0", ""),
        ("maxplaybackrate=-48000", ""),
        ("maxplaybackrate=1", "maxplaybackrate=8000"),
        ("maxplaybackrate=48000", ""),
        ("maxplaybackrate=9223372036854775807", ""),
        ("ptime=garbage", ""),
        ("ptime=", ""),
        ("ptime", ""),
        ("ptime=0;maxptime=-20;minptime=1e9", ""),
        ("ptime=1;maxptime=100000;minptime=3", "minptime=3;ptime=3;maxptime=120"),
        ("stereo=2;cbr=yes;useinbandfec=;usedtx", ""),
        (";;;=;=1;stereo==1", ""),
        ("stereo=0;stereo=1", ""),
    ]

    @Test("Invalid values are ignored, and others are limited to Opus's range", arguments: hostile)
    func hostileValues(text: String, kept: String) {
        #expect(parameters(text).formatParameters == kept)
    }

    @Test("Shared audio is offered in stereo, and a voice with DTX")
    func offered() throws {
        let offer = try Samples.offer(sections: Samples.four)
        #expect(
            try offer.media[1].formatParameters(of: 109)?.text
                == "minptime=10;useinbandfec=1;stereo=1;sprop-stereo=1")
        #expect(try offer.media[2].formatParameters(of: 111)?.text == "minptime=10;useinbandfec=1;usedtx=1")
        for media in offer.media[1...2] {
            #expect(try media.rtpMaps().map(\.encodingName) == ["opus"])
            #expect(try media.extensionMaps().map(\.id) == [1, 2, 3, 7])
            #expect(try media.feedback().map(\.kind) == [.transportWide])
            #expect(try media.sourceGroups().isEmpty)
        }
        #expect(try offer.bundle()?.mids == ["0", "1", "2", "3"])
        #expect(SessionDescription.explain(offer.description).allSatisfy { $0.problem == nil })
    }
}

extension OpusParametersTests {
    @Test("Payload types used by the peer's own sections are avoided in the whole bundle")
    func numbersAreUnique() throws {
        let offer = try Samples.offer(sections: Samples.four)
        var meanings: [String: Set<String>] = [:]
        for media in offer.media {
            for map in try media.rtpMaps() {
                let fmtp = try media.formatParameters(of: map.payloadType)?.text ?? ""
                meanings["pt \(map.payloadType)", default: []].insert(
                    "\(map.encodingName)/\(map.clockRate) \(fmtp)")
            }
            for map in try media.extensionMaps() { meanings["id \(map.id)", default: []].insert(map.uri) }
        }
        #expect(meanings.values.allSatisfy { $0.count == 1 }, "\(meanings)")
    }
}
