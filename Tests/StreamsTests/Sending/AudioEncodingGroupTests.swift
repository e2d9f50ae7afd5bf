import RTCShareAudioCoding
import RTCSharePeerConnection
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// The audio that a sender is sent, after all orders of events.
@Suite struct AudioEncodingGroupTests {
    /// The events of one sender.
    enum Event: Character, CaseIterable {
        case agreed = "A"
        case declined = "D"
        case activated = "I"
        case deactivated = "E"
        /// Its route has no bitrate for audio.
        case pathFell = "L"
        case pathRose = "R"
        case lossReported = "O"
        case ended = "X"
    }

    private static func agreement(_ media: MediaAgreement) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = media
        return agreement
    }

    private struct Scene {
        var group = AudioEncodingGroup<NumberedAudioSender>(wanted: .init(isVoice: false))
        let one = NumberedAudioSender(1)
        let other = NumberedAudioSender(2)

        /// There is another sender, which is sent the audio.
        init() {
            group.isPlaying = true
            group.add(other, isActive: true)
            group.negotiated(AudioEncodingGroupTests.agreement(.agreed), of: other)
            group.add(one, isActive: true)
        }

        mutating func take(_ event: Event) {
            switch event {
            case .agreed: group.negotiated(AudioEncodingGroupTests.agreement(.agreed), of: one)
            case .declined: group.negotiated(AudioEncodingGroupTests.agreement(.refused), of: one)
            case .activated: group.setActive(true, one)
            case .deactivated: group.setActive(false, one)
            case .pathFell: group.targetChanged(BitrateTarget(bitrate: .zero), of: one)
            case .pathRose: group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(64)), of: one)
            case .lossReported: group.lossReported(0.1, of: one)
            case .ended: group.remove(one)
            }
        }

        /// i: idle; s: is sent the audio; q: silent; -: removed. Invariants of the state are checked too.
        var state: Character {
            let phase = group.senders[one.id]?.state.phase
            let recipients = group.recipients.joined().map(\.id)
            #expect(group.hasViewer && recipients.contains(other.id))
            #expect(recipients.contains(one.id) == (phase == .sending))
            #expect((group.demand(of: one) == .zero) == (phase == nil || phase == .idle))
            // A sender that is not sent the audio does not affect the other one, not even its bitrate.
            let rate = group.configuration.bitrate
            let hasPoorPath = phase == .sending && one.state.target != nil
            #expect(rate == .kilobitsPerSecond(hasPoorPath ? 64 : 128))
            return switch phase {
            case nil: "-"
            case .idle: "i"
            case .sending: "s"
            case .silent: "q"
            }
        }
    }

    private static func table(after first: [Event]) -> [String] {
        var rows = ["  " + String(Event.allCases.map(\.rawValue))]
        for one in Event.allCases {
            var row = ""
            for other in Event.allCases {
                var scene = Scene()
                for event in first + [one, other] { scene.take(event) }
                row.append(scene.state)
            }
            rows.append("\(one.rawValue) \(row)")
        }
        return rows
    }

    @Test("Any two events before an answer lead to the expected state")
    func fromTheBeginning() {
        #expect(
            Self.table(after: []) == [
                "  ADIELROX",
                "A sisiqss-",
                "D siiiiii-",
                "I siiiiii-",
                "E iiiiiii-",
                "L siiiiii-",
                "R siiiiii-",
                "O siiiiii-",
                "X --------",
            ])
    }

    @Test("Any two events lead to the expected state of a viewer that is sent audio")
    func whileSending() {
        #expect(
            Self.table(after: [.agreed, .pathRose]) == [
                "  ADIELROX",
                "A sisiqss-",
                "D siiiiii-",
                "I sisiqss-",
                "E iisiiii-",
                "L qiqiqsq-",
                "R sisiqss-",
                "O sisiqss-",
                "X --------",
            ])
    }

    @Test("Any two events lead to the expected state of a viewer whose route has no bitrate for audio")
    func whileSilent() {
        #expect(
            Self.table(after: [.agreed, .pathFell]) == [
                "  ADIELROX",
                "A qiqiqsq-",
                "D siiiiii-",
                "I qiqiqsq-",
                "E iisiiii-",
                "L qiqiqsq-",
                "R sisiqss-",
                "O qiqiqsq-",
                "X --------",
            ])
    }

    @Test("A stream without audio has no demand, and one without viewers encodes nothing")
    func nothingToHear() {
        var scene = Scene()
        scene.take(.agreed)
        scene.group.isPlaying = false
        #expect(scene.group.demand(of: scene.one) == .zero && scene.group.demand(of: scene.other) == .zero)
        scene.group.remove(scene.one)
        #expect(scene.group.hasViewer)
        scene.group.setActive(false, scene.other)
        #expect(!scene.group.hasViewer && scene.group.recipients.isEmpty)
    }
}
