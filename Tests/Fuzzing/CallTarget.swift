import RTCShareICE
@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareSTUN
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport

/// A call that is connected, in virtual time, one end of which has a hostile peer: what a step says is protected with the
/// peer's own keys, and comes in where datagrams do. Meanwhile the call goes on.
struct CallTarget: FuzzTarget {
    private enum Kind {
        static let media: UInt8 = 0
        static let control: UInt8 = 1
        /// A STUN message, signed with the password that the peer has.
        static let check: UInt8 = 2
        /// A datagram as it is.
        static let raw: UInt8 = 3
        /// Time passes, in milliseconds (1).
        static let pause: UInt8 = 4
        /// The viewer's next answer, or, for the viewer, an offer.
        static let description: UInt8 = 5
        static let count: UInt8 = 6
    }

    /// One end of a call, and who pretends to be its peer.
    private struct Victim {
        let call: SimulatedCall
        let end: SimulatedCall.End
        let attacker: SRTPSender
        private let like: Datagram

        init(_ end: SimulatedCall.End, of call: SimulatedCall) throws {
            (self.call, self.end) = (call, end)
            let keys = CallTarget.keys(of: end, in: call)
            attacker = try SRTPSender(
                profile: keys.profile, masterKey: keys.remote, allowsRepeatedTransmission: true)
            let (sender, viewer) = (SimulatedCall.senderAddress, SimulatedCall.viewerAddress)
            like =
                end == .left
                ? Datagram(source: viewer, destination: sender, bytes: [])
                : Datagram(source: sender, destination: viewer, bytes: [])
        }

        func deliver(_ bytes: [UInt8]) { call.inject(bytes, like: like, to: end) }

        /// The message as the peer would have signed it.
        func signed(_ message: STUNMessage) throws -> [UInt8] {
            let (local, remote) =
                end == .left
                ? (call.sender.ice.agent.localCredentials, call.viewer.ice.agent.localCredentials)
                : (call.viewer.ice.agent.localCredentials, call.sender.ice.agent.localCredentials)
            var attributes = message.attributes
            let isRequest = message.messageClass == .request
            if isRequest {
                attributes.removeAll { $0.type == .username }
                attributes.insert(.username("\(local.usernameFragment):\(remote.usernameFragment)"), at: 0)
            }
            let signed = STUNMessage(
                message.messageClass, method: message.method, transactionID: message.transactionID,
                attributes: attributes)
            return try signed.encoded(integrityKey: Array((isRequest ? local : remote).password.utf8))
        }
    }

    private static func keys(of end: SimulatedCall.End, in call: SimulatedCall) -> SRTPKeyingMaterial {
        let keys = end == .left ? call.senderKeys : call.viewerKeys
        guard let keys else { fatalError("the call is not connected") }
        return keys
    }

    /// Pictures and sound that have begun to flow.
    private static func connectedCall() throws -> SimulatedCall {
        var options = SimulatedCall.Options()
        options.media = [
            .video(streamID: "alice#content", isContent: true), .audio(streamID: "alice#content", isContent: true),
        ]
        let call = try SimulatedCall(
            conditions: LinkConditions(delay: .milliseconds(10)), seed: 1, options: options)
        call.run(for: .milliseconds(300))
        return call
    }

    /// The first byte says which end is the victim.
    func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let call = try Self.connectedCall()
        let victim = try Victim(first & 1 == 0 ? .left : .right, of: call)
        for step in Script(Array(input.dropFirst())).prefix(64) {
            try? take(step, victim)
            call.run(for: .zero)
        }
        call.run(for: .milliseconds(100))
        check(call.sender)
        check(call.viewer)
    }

    private func take(_ step: Script.Step, _ victim: Victim) throws {
        var bytes = step.bytes
        switch step.kind % Kind.count {
        case Kind.media:
            try victim.attacker.protectRTP(&bytes)
            victim.deliver(bytes)
        case Kind.control:
            try victim.attacker.protectRTCP(&bytes)
            victim.deliver(bytes)
        case Kind.check: victim.deliver(try victim.signed(STUNMessage(parsing: bytes.span.bytes)))
        case Kind.raw: victim.deliver(bytes)
        case Kind.pause: victim.call.run(for: .milliseconds(step.number(0)))
        default:
            let description = try SessionDescription.parse(utf8: bytes)
            let call = victim.call
            if victim.end == .left {
                try call.sender.accept(answer: description, to: call.makeOffer(), now: call.now)
            } else {
                _ = try call.viewer.answer(offer: description, now: call.now)
            }
        }
    }

    /// What a peer can make an end remember is bounded.
    private func check(_ connection: borrowing PeerConnection) {
        expect(connection.control.waiting.count < 1000, "the RTCP packets that wait are bounded")
        expect(connection.receivers.media.count < 1000, "receivers are bounded")
        expect(connection.control.reporters.count < 1000, "who reports is bounded")
    }

    /// What the ends say to each other later, decrypted.
    func seeds() throws -> [String: [UInt8]] {
        let call = try Self.connectedCall()
        var captured: [SimulatedCall.End: [(kind: UInt8, bytes: [UInt8])]] = [:]
        var receivers: [SimulatedCall.End: SRTPReceiver] = [:]
        for end in [SimulatedCall.End.left, .right] {
            let keys = Self.keys(of: end, in: call)
            receivers[end] = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        }
        call.tap = { datagram, from in
            let victim: SimulatedCall.End = from == .left ? .right : .left
            var bytes = datagram.bytes
            guard let receiver = receivers[victim] else { return }
            switch DatagramKind(bytes.span.bytes) {
            case .rtp where (try? receiver.unprotectRTP(&bytes)) != nil:
                captured[victim, default: []].append((Kind.media, Array(bytes.prefix(200))))
            case .rtcp where (try? receiver.unprotectRTCP(&bytes)) != nil:
                captured[victim, default: []].append((Kind.control, bytes))
            case .stun: captured[victim, default: []].append((Kind.check, bytes))
            default: break
            }
        }
        call.run(for: .seconds(6))
        var seeds: [String: [UInt8]] = [:]
        for (victim, all) in captured {
            for (name, kind) in [("media", Kind.media), ("control", Kind.control), ("checks", Kind.check)] {
                let steps = all.filter { $0.kind == kind }
                for part in 0..<2 where !steps.isEmpty {
                    let some = steps.dropFirst(part * steps.count / 2).prefix(5)
                    seeds["\(victim == .left ? "sender" : "viewer")-\(name)-\(part)"] =
                        [victim == .left ? 0 : 1] + Script.bytes(some.flatMap { [$0, (Kind.pause, [10])] })
                }
            }
        }
        let offer = try call.makeOffer().description
        seeds["viewer-offer"] = [1] + Script.bytes([(Kind.description, Array(offer.utf8)), (Kind.pause, [50])])
        let answer = try call.viewer.answer(offer: SessionDescription.parse(offer), now: call.now).description
        seeds["sender-answer"] = [0] + Script.bytes([(Kind.description, Array(answer.utf8)), (Kind.pause, [50])])
        return seeds
    }
}
