import RTCShareICE
@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

/// The path to the peer: none, one that breaks and mends, one that ends, one that moves, and one that a stranger is on.
@Suite struct PathTests {
    static let clean = LinkConditions(delay: .milliseconds(20))

    @Test("A connection without a path fails after its timeout and reports the outcome of each pair")
    func noPath() throws {
        var options = SimulatedCall.Options()
        options.sender.connectTimeout = .seconds(12)
        let call = try SimulatedCall(conditions: Self.clean, seed: 101, options: options)
        call.isCut = true
        call.run(for: .milliseconds(11_900))
        #expect(call.record.failures.isEmpty)
        call.run(for: .milliseconds(200))
        #expect(call.record.failures == [.unreachable])
        let reports = call.sender.pairReports()
        #expect(reports.count == 1)
        #expect(reports.first?.contains("no answer") == true, "\(reports)")
        #expect(call.sender.nextDeadline(now: call.now) == nil)
    }

    @Test("A path that fails for ten seconds is reported, recovers, and frames are received again")
    func brokenPath() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 102)
        call.run(for: .seconds(3))
        call.isCut = true
        call.run(for: .seconds(15), sendsFrames: false)
        #expect(call.record.pathEvents.map(\.event) == [.disconnected])
        let count = call.record.frames.count
        call.isCut = false
        let mended = call.now
        call.run(for: .seconds(5))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .reconnected])
        #expect(try #require(call.record.pathEvents.last).now - mended < .seconds(2))
        #expect(call.record.frames.count > count + 60)
        #expect(call.record.failures.isEmpty)
    }

    @Test("The permanent failure of a path ends the connection when consent expires, and nothing is sent afterwards")
    func consentExpires() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 103)
        call.run(for: .seconds(3))
        call.isCut = true
        call.run(for: .seconds(20), sendsFrames: false)
        #expect(call.record.failures.isEmpty)
        call.run(for: .seconds(15), sendsFrames: false)
        #expect(call.record.failures == [.consentExpired, .consentExpired])
        let count = call.record.sent.count
        call.sender.close(now: call.now)
        call.run(for: .seconds(5))
        #expect(call.record.sent.count == count)
    }

    @Test("A failed handshake after a path was found is not reported as an unreachable peer")
    func pathEndsInHandshake() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 104)
        // The path is there after one round trip, the handshake needs more.
        call.run(for: .milliseconds(70), sendsFrames: false)
        try #require(call.record.connected == nil)
        call.isCut = true
        call.run(for: .seconds(40), sendsFrames: false)
        let failure = try #require(call.record.failures.first)
        #expect(failure != .unreachable)
    }

    @Test("A call continues when a NAT rebinding changes the viewer's port")
    func natRebinding() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 105)
        call.run(for: .seconds(3))
        call.viewerPublicAddress = TransportAddress(ip: SimulatedCall.viewerAddress.ip, port: 6001)
        call.run(for: .seconds(15))
        let count = call.record.frames.count
        call.run(for: .seconds(2))
        #expect(call.record.frames.count > count + 50)
        #expect(call.record.failures.isEmpty)
    }

    @Test("A call with a peer that supports only TCP is sent over one TCP connection")
    func overTCP() throws {
        var options = SimulatedCall.Options()
        options.isOverTCP = true
        options.editAnswer = { answer in
            answer.split(separator: "\r\n").map { line in
                line.hasPrefix("a=candidate:") && line.contains(" udp ")
                    ? line.replacing(" udp ", with: " TCP ") + " tcptype passive" : String(line)
            }.joined(separator: "\r\n") + "\r\n"
        }
        let call = try SimulatedCall(conditions: Self.clean, seed: 120, options: options)
        call.run(for: .seconds(5))
        #expect(call.record.connected != nil)
        #expect(call.record.frames.count > 120)
        #expect(call.record.failures.isEmpty)
        #expect(call.sentOverTCP > 500)
        let local = call.sender.report(now: call.now).localCandidates.filter { $0.protocol == .tcp }
        #expect(local.contains { $0.tcpType == .active && $0.candidateType == .peerReflexive })
        let destination = SimulatedCall.viewerAddress
        let base = TransportAddress(ip: SimulatedCall.senderAddress.ip, port: 0)
        #expect(call.sender.framing(of: destination, from: base, over: .tcp) == .lengthPrefixed)
        // The connection ends: the path is told to be broken, and asking for consent opens another.
        call.sender.transmitFailed(from: base, to: destination, over: .tcp, now: call.now)
        call.run(for: .seconds(3))
        #expect(call.record.pathEvents.map(\.event) == [.disconnected, .reconnected])
    }

    @Test("The peer's first flight is still available when the answer is half a minute late")
    func lateAnswer() throws {
        var options = SimulatedCall.Options()
        options.answerDelay = .seconds(20)
        let call = try SimulatedCall(conditions: Self.clean, seed: 106, options: options)
        let start = call.now
        call.run(for: .seconds(30))
        let connected = try #require(call.record.connected)
        #expect(connected - start < .milliseconds(20_300))
        #expect(call.record.frames.count > 200)
        #expect(call.record.failures.isEmpty)
    }

    @Test("Only the newest few datagrams of a handshake are kept until the peer's description arrives")
    func earlyHandshake() throws {
        var options = SimulatedCall.Options()
        options.answerDelay = .seconds(2)
        let call = try SimulatedCall(conditions: Self.clean, seed: 109, options: options)
        call.run(for: .seconds(1))
        let back = Datagram(
            source: SimulatedCall.viewerAddress, destination: SimulatedCall.senderAddress, bytes: [])
        // As the beginning of handshakes.
        let flood = (0..<UInt8(200)).map { [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, $0, 0, 0] as [UInt8] }
        for datagram in flood { call.inject(datagram, like: back, to: .left) }
        let kept = call.sender.transport.early.map(\.bytes)
        #expect(kept == flood.suffix(SecureMediaTransport.maximumEarly) && kept.count == 4)
        // The peer repeats what they took the place of.
        call.run(for: .seconds(10))
        #expect(call.record.connected != nil && call.record.failures.isEmpty)
    }

    @Test("A certificate mismatch ends the connection with an error that names both", arguments: [true, false])
    func wrongCertificate(isOffer: Bool) throws {
        let forged = (0..<32).map { _ in "AB" }.joined(separator: ":")
        let edit: (String) -> String = { text in
            text.split(separator: "\r\n").map { line in
                line.hasPrefix("a=fingerprint:") ? "a=fingerprint:sha-256 " + forged : String(line)
            }.joined(separator: "\r\n") + "\r\n"
        }
        var options = SimulatedCall.Options()
        if isOffer { options.editOffer = edit } else { options.editAnswer = edit }
        let call = try SimulatedCall(conditions: Self.clean, seed: 107, options: options)
        let identity = isOffer ? call.sender.identity : call.viewer.identity
        let announced = identity.certificate.fingerprint().description
        call.run(for: .seconds(5))
        #expect(call.record.connected == nil)
        #expect(call.record.failures.count == 2, "the alert tells the other end too: \(call.record.failures)")
        let reasons = call.record.failures.compactMap { failure in
            if case .insecure(let reason) = failure { reason } else { nil }
        }
        #expect(reasons.contains { $0.contains(forged) && $0.contains(announced) }, "\(reasons)")
    }

    @Test("A forged alert from another address does not end a handshake")
    func forgedAlert() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 108)
        let stranger = TransportAddress(ip: .v4(0xCB00_7109), port: 9)
        // A fatal handshake_failure in the clear (RFC 6347 §4.1, RFC 5246 §7.2).
        let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
        for _ in 0..<40 {
            call.run(for: .milliseconds(5))
            var bytes = alert
            let now = call.now
            bytes.withUnsafeMutableBytes { memory in
                call.sender.handle(memory, from: stranger, to: SimulatedCall.senderAddress, now: now)
            }
        }
        call.run(for: .seconds(1))
        #expect(call.record.connected != nil)
        #expect(call.record.failures.isEmpty)
    }

    @Test("A call with a peer without GCM uses counter mode with HMAC")
    func peerWithoutGCM() throws {
        var options = SimulatedCall.Options()
        options.viewer.srtpProfiles = [.aes128CMHMACSHA1Tag80]
        let call = try SimulatedCall(conditions: WholeCallTests.disturbed(loss: 0.05), seed: 109, options: options)
        call.run(for: .seconds(5))
        #expect(call.viewerKeys?.profile == .aes128CMHMACSHA1Tag80)
        #expect(call.record.frames.count > 100)
    }

    @Test("Another peer's answer is rejected, and the call continues")
    func anotherPeersAnswer() throws {
        let call = try SimulatedCall(conditions: Self.clean, seed: 110)
        call.run(for: .seconds(1))
        let offer = try call.sender.makeOffer()
        #expect(throws: PeerConnectionError.fingerprintChanged) {
            var answerer = try SimulatedCall.makeAnswerer(seed: 111)
            let answer = try answerer.answer(offer: offer, now: call.now)
            try call.sender.accept(answer: answer, to: offer, now: call.now)
        }
        let count = call.record.frames.count
        call.run(for: .seconds(1))
        #expect(call.record.frames.count > count + 20)
    }
}
