import Foundation
import NIOCore
import NIOEmbedded
import NIOWebSocket
import RTCShareSDP
import TestSupport

@testable import RTCShareSignaling
@testable import rtcshare

/// What a server answers to a request: lines of a head, an empty line, a body.
struct HTTPResponseTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        let parts = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let head = parts.prefix { !$0.isEmpty }
        let lines = head.map { String(decoding: $0, as: UTF8.self) }
        let body = Array(parts.dropFirst(head.count + 1).joined(separator: [UInt8(ascii: "\n")]))
        guard let url = WebAddress("https://server.example/live/whip?app=1") else { return }
        let status = lines.first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 201
        let response = HTTPClient.Response(
            status: status, headers: HTTPClient.Response.headers(in: lines), body: body, url: url)
        if let wait = response.retryAfter() { expect((.zero ... .seconds(3600)).contains(wait), "a wait has a bound") }
        expect(response.sentence.map { $0.count <= 300 } ?? true, "a sentence is short")
        let refusal = EndpointRefusal(response, token: .shown)
        _ = (WHIPError.refused(refusal).description, WHEPError.refused(refusal).description)
        _ = mayPass(WHEPError.refused(refusal))
        for link in response.all("Link").flatMap({ LinkHeader.parse($0) }) {
            expect(link.iceServerReadings.count <= 2, "a link names a server in two ways at most")
        }
        if let location = response["Location"], let place = url.resolving(location) {
            expect(["http:", "https:"].contains { place.origin.hasPrefix($0) }, "a session is at a URL of the web")
        }
        let request = HTTPClient.Request(method: "POST", url: url, leavesOrigin: false)
        if let next = try? request.redirected(to: response["Location"]) {
            expect(next.url.origin == url.origin, "secrets stay at their origin")
        }
        if let text = String(validating: response.text, as: UTF8.self) { _ = try TrickleFragment(parsing: text) }
    }

    func seeds() -> [String: [UInt8]] {
        [
            "created": Array(
                "201\nLocation: /sessions/1?of=alice\nETag: \"1\"\nLink: <stun:a>; rel=\"ice-server\"\n\nv=0\r\n".utf8),
            "busy": Array("503\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\nContent-Type: text/plain\n\nfull".utf8),
            "later": Array("429\nRetry-After: 9223372036854775807\n\n".utf8),
            "problem": Array("400\nContent-Type: application/problem+json\n\n{\"detail\": \"so\"}".utf8),
            "moved": Array("307\nLocation: //other.example:99999/x#y\n\n".utf8),
        ]
    }
}

/// What a Janus says over HTTP: messages of its own and of its VideoRoom.
struct JanusTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        guard let url = WebAddress("http://server.example/janus") else { return }
        let response = HTTPClient.Response(status: 200, headers: [], body: input, url: url)
        for message in try JanusLongPoll.messages(in: response) {
            expect((0...65_536).contains(message.packetsLost), "losses have a bound")
            if let error = message.error {
                _ = JanusError(error).description
                _ = mayPass(JanusError(error))
            }
            guard let report = message.plugindata?.data else { continue }
            if let code = report.errorCode {
                let error = JanusError.refused(JanusRefusal(code: code, sentence: report.error))
                _ = error.description
            }
            for room in report.list ?? [] { _ = (room.room.asName, room.bitrate) }
            guard let description = message.description else { continue }
            let named = JanusPlayer.named(description.sdp, by: report.streams ?? [])
            if (try? SessionDescription.parse(description.sdp)) != nil {
                _ = try SessionDescription.parse(named)
            }
        }
    }

    func seeds() -> [String: [UInt8]] {
        [
            "slow": Array(#"[{"janus":"slowlink","sender":2,"uplink":true,"lost":9223372036854775807}]"#.utf8),
            "error": Array(#"{"janus":"error","transaction":"t1","error":{"code":458,"reason":"gone"}}"#.utf8),
            "joined": Array(
                """
                {"janus":"event","sender":18446744073709551615,"plugindata":{"data":{"videoroom":"attached","room":"a",\
                "error_code":426,"list":[{"room":1,"bitrate":-1}],"streams":[{"mid":"0","feed_id":7,\
                "feed_display":"alice#content"}]}},"jsep":{"type":"offer","sdp":"v=0\\r\\no=- 0 0 IN IP4 0.0.0.0\\r\\n\
                s=-\\r\\nt=0 0\\r\\nm=video 9 UDP/TLS/RTP/SAVPF 96\\r\\na=mid:0\\r\\n"}}
                """.utf8),
        ]
    }
}

/// What a Janus sends over a WebSocket once it is one: frames as bytes.
struct WebSocketTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        let (arrivals, continuation) = AsyncThrowingStream.makeStream(
            of: JanusMessage.self, bufferingPolicy: .bufferingOldest(4))
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 12)),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 8, maxAccumulatedFrameSize: 1 << 12),
            JanusFrameHandler(continuation),
        ])
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        _ = try? channel.writeInbound(ByteBuffer(bytes: input))
        _ = try? channel.finish(acceptAlreadyClosed: true)
        withExtendedLifetime(arrivals) {}
    }

    func seeds() -> [String: [UInt8]] {
        func frame(_ opcode: UInt8, _ text: String) -> [UInt8] { [0x80 | opcode, UInt8(text.utf8.count)] + text.utf8 }
        return [
            "texts": frame(1, #"{"janus":"keepalive"}"#) + frame(1, #"{"janus":"timeout","session_id":1}"#),
            "pings": frame(9, "one") + frame(9, "two") + frame(8, ""),
            "parts": [0x01, 2] + Array("{}".utf8) + [0x80, 0],
        ]
    }
}

/// A file that `--stats` wrote, or anybody, and the page that is made of it.
struct StatisticsTarget: FuzzTarget {
    private let file = InputFile()

    func run(_ input: [UInt8]) throws {
        file.write(input)
        var history = StatisticsHistory()
        try history.read(file.path, file: 0)
        let page = ReportPage(history, title: "input").markup
        expect(page.components(separatedBy: "<script").count == 2, "a page has its own script only")
    }

    func seeds() -> [String: [UInt8]] {
        func report(_ time: Double, _ count: Double) -> String {
            """
            [{"id":"T","type":"transport","timestamp":\(time),"viewer":1,"viewerName":"<b>","iceState":"connected",\
            "selectedCandidatePairId":"P"},{"id":"P","type":"candidate-pair","timestamp":\(time),\
            "availableOutgoingBitrate":\(count)},{"id":"S","type":"outbound-rtp","kind":"video","timestamp":\(time),\
            "ssrc":4294967295,"bytesSent":\(count),"framesSent":\(count),"frameWidth":\(count),"frameHeight":2,\
            "keyFramesSent":\(count),"targetBitrate":\(count),"mediaSourceId":"M","pliCount":\(count)},\
            {"id":"M","type":"media-source","timestamp":\(time),"sharePaused":true,"shareSource":"test"},\
            {"id":"R","type":"inbound-rtp","kind":"video","timestamp":\(time),"freezeCount":\(count),\
            "totalFreezesDuration":\(count),"totalPausesDuration":\(count),"framesDecoded":\(count),"ssrc":1}]

            """
        }
        return [
            "usual": Array(((0..<3).map { report(1.7e12 + Double($0) * 1000, Double($0)) }.joined()).utf8),
            "extreme": Array((report(0, -1e15) + report(8.64e15, 1e15) + report(8.64e15, 1e308)).utf8),
        ]
    }
}
