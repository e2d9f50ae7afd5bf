import RTCShareAudioCoding
import RTCSharePeerConnection
import RTCShareWireFormat
import Testing

@testable import RTCShareNetworkRuntime

/// What a sender of sound is sent, whatever happens in whatever order.
@Suite struct AudioEncodingGroupTests {
    /// What can happen to one sender.
    enum Event: Character, CaseIterable {
        case agreed = "A"
        case declined = "D"
        case included = "I"
        case excluded = "E"
        /// Its path has nothing for sound.
        case pathFell = "L"
        case pathRose = "R"
        case lossReported = "O"
        case ended = "X"
    }

    private static let (one, other) = (1, 2)

    private static func agreement(_ media: MediaAgreement) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = media
        return agreement
    }

    private struct Scene {
        var group = AudioEncodingGroup<Int>(wanted: .init(isVoice: false))

        /// Another sender is there, and is sent what there is.
        init() {
            group.isPlaying = true
            group.add(AudioEncodingGroupTests.other, isIncluded: true)
            group.negotiated(AudioEncodingGroupTests.agreement(.agreed), of: AudioEncodingGroupTests.other)
            group.add(AudioEncodingGroupTests.one, isIncluded: true)
        }

        mutating func take(_ event: Event) {
            let one = AudioEncodingGroupTests.one
            switch event {
            case .agreed: group.negotiated(AudioEncodingGroupTests.agreement(.agreed), of: one)
            case .declined: group.negotiated(AudioEncodingGroupTests.agreement(.refused), of: one)
            case .included: group.setIncluded(true, one)
            case .excluded: group.setIncluded(false, one)
            case .pathFell: group.targetChanged(BitrateTarget(bitrate: .zero), of: one)
            case .pathRose: group.targetChanged(BitrateTarget(bitrate: .kilobitsPerSecond(64)), of: one)
            case .lossReported: group.lossReported(0.1, of: one)
            case .ended: group.remove(one)
            }
        }

        /// i: idle; s: is sent the sound; q: silent; -: is no more. What follows from the state is judged with it.
        var state: Character {
            let (one, other) = (AudioEncodingGroupTests.one, AudioEncodingGroupTests.other)
            let phase = group.senders[one]?.phase
            #expect(group.hasActive && group.recipients.contains(other))
            #expect(group.recipients.contains(one) == (phase == .sending))
            #expect((group.demand(of: one) == .zero) == (phase == nil || phase == .idle))
            // Whoever is not sent the sound takes nothing from the other, be it bits.
            let rate = group.configuration(for: group.recipients).bitrate
            let hasPoorPath = phase == .sending && group.senders[one]?.target != nil
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

    @Test("Any two events lead where they should, from before an answer")
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

    @Test("Any two events lead where they should, while it is sent the sound")
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

    @Test("Any two events lead where they should, while its path has nothing for sound")
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

    @Test("While there is nothing to hear nobody wants bits, and while nobody takes it nothing is to be heard")
    func nothingToHear() {
        var scene = Scene()
        scene.take(.agreed)
        scene.group.isPlaying = false
        #expect(scene.group.demand(of: Self.one) == .zero && scene.group.demand(of: Self.other) == .zero)
        scene.group.remove(Self.one)
        #expect(scene.group.hasActive)
        scene.group.setIncluded(false, Self.other)
        #expect(!scene.group.hasActive && scene.group.recipients.isEmpty)
    }
}
