import Foundation
import RTCShareContentShare
import RTCShareSDP
import TestSupport
import Testing

@testable import RTCShareSignaling

/// Messages and addresses of Janus.
@Suite struct JanusMessageTests {
    private func message(_ text: String) throws -> JanusMessage {
        try JSONDecoder().decode(JanusMessage.self, from: Data(text.utf8))
    }

    @Test("Messages of the server are read, and unknown fields are ignored")
    func reads() throws {
        let joined = try message(
            """
            {"janus":"event","session_id":1,"transaction":"t3","sender":2,"plugindata":{"plugin":"janus.plugin.videoroom",\
            "data":{"videoroom":"joined","room":1234,"description":"Demo","id":7,"private_id":8,"publishers":[]}}}
            """)
        #expect(joined.transaction == "t3" && joined.plugindata?.data.videoroom == "joined")
        let kicked = try #require(
            try message(
                """
                {"janus":"event","plugindata":{"data":{"videoroom":"event","room":"a","leaving":"ok","reason":"kicked"}}}
                """
            ).plugindata?.data)
        #expect(kicked.leaving == .name("ok") && kicked.reason == "kicked")
        let other = try message(
            """
            {"janus":"event","plugindata":{"data":{"videoroom":"event","room":5,"leaving":18446744073709551615}}}
            """)
        #expect(other.plugindata?.data.leaving == .number(.max))
        let error = try message(
            #"{"janus":"error","transaction":"t1","error":{"code":458,"reason":"No such session"}}"#)
        #expect(try JanusError(#require(error.error)) == .sessionGone)
        let slow = try message(#"{"janus":"slowlink","sender":2,"uplink":true,"lost":12,"mid":"0","media":"video"}"#)
        #expect(slow.uplink == true && slow.lost == 12)
    }

    @Test(
        "A member of another type than Janus' is ignored, and the others are read",
        arguments: [
            #""mid":0,"substream":1"#, #""mid":"v","substream":"1""#, #""mid":"v","substream":1.5"#,
            #""mid":null,"substream":99999999999999999999"#, #""streams":[5]"#, #""streams":"all""#,
            #""streams":[{"mid":"v","feed_id":{},"feed_display":"a"}]"#,
            #""error":{},"reason":7,"list":{},"leaving":[]"#,
        ])
    func oddMembers(members: String) throws {
        let event = try message(#"{"janus":"event","plugindata":{"data":{"videoroom":"event",\#(members)}}}"#)
        let report = try #require(event.plugindata?.data)
        #expect(report.videoroom == "event" && (report.mid == nil || report.substream == nil))
        #expect(report.streams == nil && report.error == nil && report.reason == nil && report.leaving == nil)
    }

    @Test("A stream with a section or a name of another type keeps its publisher")
    func oddStreams() throws {
        let text = """
            {"janus":"event","plugindata":{"data":{"videoroom":"updated","streams":\
            [{"mid":0,"feed_id":5,"feed_display":"a"},{"mid":"1","feed_id":"6","feed_display":{}},{"mindex":2}]}}}
            """
        let streams = try #require(try message(text).plugindata?.data.streams)
        #expect(streams.map(\.mid) == [nil, "1", nil] && streams.map(\.feedDisplay) == ["a", nil, nil])
        #expect(streams.map(\.feedID) == [.number(5), .name("6"), nil])
    }

    @Test("A request has its fields and no others")
    func writes() throws {
        var joining = JanusRoomRequest("join")
        joining.room = JanusID("1234")
        joining.ptype = "publisher"
        var request = JanusRequest("message")
        (request.transaction, request.sessionID, request.handleID, request.secret) = ("t1", 1, .max, "s")
        request.body = joining
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(request), as: UTF8.self) == """
                {"apisecret":"s","body":{"ptype":"publisher","request":"join","room":1234},"handle_id":18446744073709551615,\
                "janus":"message","session_id":1,"transaction":"t1"}
                """)
    }

    @Test(
        "A room is a number if it is written as one",
        arguments: [
            ("1234", true), ("0", true), ("٣", false), ("12a", false), ("", false), ("0042", false), ("+49", false),
        ])
    func rooms(text: String, isNumber: Bool) {
        if case .number = JanusID(text) { #expect(isNumber) } else { #expect(!isNumber) }
        #expect(JanusID(text).description == text && JanusID(text).asName == .name(text))
    }

    @Test(
        "An address is one of the HTTP API or of a WebSocket",
        arguments: [
            ("http://a.example:8088", "http://a.example:8088/janus", false, "http://a.example:8088/janus"),
            ("https://a.example/x?k=1", "https://a.example/x?k=1", false, "https://a.example/x"),
            ("ws://[::1]:8188/", "http://[::1]:8188/", true, "ws://[::1]:8188/"),
            ("WSS://a.example/ws?k=1", "https://a.example/ws?k=1", true, "wss://a.example/ws"),
        ])
    func addresses(text: String, url: String, isWebSocket: Bool, shown: String) throws {
        let address = try #require(JanusAddress(text))
        #expect(address.url.description == url && address.isWebSocket == isWebSocket && address.shown == shown)
    }

    @Test(
        "A text that is no address of Janus is rejected",
        arguments: ["", "a.example", "ftp://a.example", "ws:", "javascript:1"])
    func noAddresses(text: String) {
        #expect(JanusAddress(text) == nil)
        #expect(throws: JanusError.url) { try JanusEndpoint(url: text, room: .number(1), display: "a") }
    }

    @Test("A WebSocket request has host, port, path and query")
    func requestTarget() throws {
        let url = try #require(JanusAddress("wss://[2001:db8::1]/a/b?k=1")?.url)
        #expect(url.hostName == "2001:db8::1" && url.port == 443 && url.authority == "[2001:db8::1]:443")
        #expect(url.requestTarget == "/a/b?k=1")
    }

    @Test("Secrets are shown only to the server")
    func secrets() throws {
        let credentials = JanusCredentials(pin: "open sesame", secret: "hidden", token: "closed")
        var endpoint = try JanusEndpoint(
            url: "http://a.example/janus?k=1", room: .name("r"), display: "d", credentials: credentials)
        for text in ["\(credentials)", String(reflecting: credentials), String(reflecting: endpoint), endpoint.name] {
            #expect(!text.contains("open sesame") && !text.contains("hidden") && !text.contains("closed"), "\(text)")
        }
        #expect(endpoint.exposesSecrets && !endpoint.name.contains("k=1"))
        endpoint = try JanusEndpoint(url: "wss://a.example", room: .number(1), display: "d", credentials: credentials)
        #expect(!endpoint.exposesSecrets)
        endpoint = try JanusEndpoint(url: "ws://127.0.0.1", room: .number(1), display: "d", credentials: credentials)
        #expect(!endpoint.exposesSecrets)
    }

    @Test("Media sections have their publishers' names if those are valid names of attendees")
    func names() throws {
        let offer = """
            v=0\r
            o=- 1 1 IN IP4 127.0.0.1\r
            s=-\r
            t=0 0\r
            m=video 9 UDP/TLS/RTP/SAVPF 96\r
            a=mid:0\r
            a=msid:janus janus0\r
            a=ssrc:1 msid:janus janus0\r
            a=ssrc:1 cname:janus\r
            m=audio 9 UDP/TLS/RTP/SAVPF 111\r
            a=msid:janus janus1\r
            a=mid:1\r

            """
        let streams = [
            JanusRoomReport.Stream(mid: "0", feedID: .number(1), feedDisplay: "two words#content"),
            JanusRoomReport.Stream(
                mid: "1", feedID: .number(2), feedDisplay: String(repeating: "x", count: 65)),
        ]
        let named = try SessionDescription.parse(JanusPlayer.named(offer, by: streams))
        #expect(try named.media[0].mediaStreams().map(\.description) == ["two%20words#content 0"])
        #expect(try named.media[1].mediaStreams().map(\.description) == ["janus janus1"])
        #expect(!named.description.contains("janus0") && named.description.contains("cname:janus"))
    }

    @Test("A rejected video is reported with the codecs of the offer and of the room, if that is listed")
    func rejectedVideo() throws {
        let text = #"{"videoroom":"success","list":[{"room":1,"bitrate":0,"videocodec":"h264,vp9"},{"room":2}]}"#
        let rooms = try #require(try JSONDecoder().decode(JanusRoomReport.self, from: Data(text.utf8)).list)
        #expect(rooms.map(\.videoCodecs) == [["H264", "VP9"], []])
        func words(_ accepted: [String]) -> String {
            JanusError.pictureDeclined(offered: ["VP8", "AV1"], accepted: accepted).description
        }
        let problem = "the room rejects the video, which is offered in VP8 or AV1"
        #expect(words([]).hasPrefix("\(problem); add vp8 or av1 to the room's videocodec"))
        #expect(words(rooms[0].videoCodecs).hasPrefix("\(problem): it takes H264 or VP9; "))
    }

    @Test("The error decides whether a publication is tried again")
    func outlooks() throws {
        let endpoint = try JanusEndpoint(url: "ws://a.example", room: .number(1), display: "d")
        func retryPolicy(_ code: Int) -> RetryPolicy {
            endpoint.retryPolicy(after: JanusError.refused(JanusRefusal(code: code, sentence: nil)))
        }
        #expect([426, 429, 430, 433, 403, 460, 437].allSatisfy { retryPolicy($0) == .permanent })
        #expect(retryPolicy(432) == .retry(after: nil) && retryPolicy(499) == .transient)
        #expect(endpoint.retryPolicy(after: JanusError.kicked) == .removedByServer)
        #expect(endpoint.retryPolicy(after: JanusError.roomGone) == .transient)
        #expect(endpoint.retryPolicy(after: JanusError.noJanus(status: 502, sentence: nil)) == .transient)
        #expect(endpoint.retryPolicy(after: JanusError.noJanus(status: 404, sentence: nil)) == .permanent)
        #expect(endpoint.retryPolicy(after: HTTPClientError.unreachable("a", "b")) == .transient)
    }
}
