import RTCSharePeerConnection
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// The encoding that a sender is sent, after all orders of events.
@Suite struct EncodingGroupTests {
    /// The events of one sender, or of its encoding.
    enum Event: Character, CaseIterable {
        case agreed = "A"
        case declined = "D"
        case activated = "I"
        case deactivated = "E"
        /// Its route carries a tenth of the other's, and two seconds pass.
        case pathFell = "L"
        case queueFilled = "F"
        case queueEmptied = "R"
        case keyFrameRequested = "K"
        /// A key frame of each encoding is sent.
        case keyFrameSent = "S"
        /// Its peer does not answer any more, or answers again.
        case unresponsive = "G"
        case back = "B"
        case ended = "X"
    }

    private static func agreement(_ media: MediaAgreement) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = media
        return agreement
    }

    private struct Scene {
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(2000)))
        let one = NumberedVideoSender(1)
        let other = NumberedVideoSender(2, on: .second)
        var now = Duration.seconds(100)
        var encodings: Set<Int> = [0]
        var keyFrames = 0

        /// There is another sender, which is sent the encoding.
        init() {
            group.add(other, isActive: true)
            group.negotiated(
                EncodingGroupTests.agreement(.agreed), of: other, now: .zero)
            group.targetChanged(
                BitrateTarget(bitrate: .kilobitsPerSecond(1000)), of: other, now: .zero)
            group.add(one, isActive: true)
            carryOut()
            _ = group.recipients(of: 0, isKeyFrame: true)
            keyFrames = 0
        }

        mutating func carryOut() {
            while let action = group.takeAction() {
                switch action {
                case .begin(let encoding, _): #expect(encodings.insert(encoding).inserted)
                case .end(let encoding): #expect(encodings.remove(encoding) != nil)
                case .makeKeyFrame(let encoding, _):
                    #expect(encodings.contains(encoding))
                    keyFrames += 1
                case .updateDemand: continue
                }
            }
        }

        mutating func take(_ event: Event) {
            func target(_ kilobits: Int, isFull: Bool = false) -> BitrateTarget {
                BitrateTarget(bitrate: .kilobitsPerSecond(kilobits), isQueueFull: isFull)
            }
            switch event {
            case .agreed: group.negotiated(EncodingGroupTests.agreement(.agreed), of: one, now: now)
            case .declined: group.negotiated(EncodingGroupTests.agreement(.refused), of: one, now: now)
            case .activated: group.setActive(true, one, now: now)
            case .deactivated: group.setActive(false, one, now: now)
            case .pathFell:
                group.targetChanged(target(100), of: one, now: now)
                for _ in 0..<20 {
                    now += .milliseconds(200)
                    group.move(now: now)
                }
            case .queueFilled: group.targetChanged(target(1000, isFull: true), of: one, now: now)
            case .queueEmptied: group.targetChanged(target(1000), of: one, now: now)
            case .keyFrameRequested: group.keyFrameRequested(by: one, now: now)
            case .keyFrameSent: for encoding in encodings { _ = group.recipients(of: encoding, isKeyFrame: true) }
            case .unresponsive: group.setUnresponsive(true, one, now: now)
            case .back: group.setUnresponsive(false, one, now: now)
            case .ended: group.remove(one, now: now)
            }
            carryOut()
        }

        /// Reports a bitrate of both routes.
        mutating func report(_ rate: DataRate) {
            for sender in [one, other] {
                group.targetChanged(BitrateTarget(bitrate: rate), of: sender, now: now)
            }
            carryOut()
        }

        /// i: idle; a, b: awaits a key frame and is sent nothing, or the previous encoding; s: is sent the shared
        /// encoding, t: its own; w: withheld; -: removed.
        var state: Character {
            guard group.senders[one.id] != nil else { return "-" }
            switch one.state.phase {
            case .idle: return "i"
            case .awaitingKeyFrame(_, let meanwhile): return meanwhile == nil ? "a" : "b"
            case .sending(let encoding): return encoding == 0 ? "s" : "t"
            case .withheld: return "w"
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

    @Test("The encoder is prepared for the first viewer who is active, agrees and has its codec")
    func firstViewer() {
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(2000)))
        let (one, other) = (NumberedVideoSender(1), NumberedVideoSender(2, on: .second))
        #expect(!group.isFirst(one, Self.agreement(.agreed)), "it was removed")
        group.add(one, isActive: false)
        #expect(!group.isFirst(one, Self.agreement(.agreed)), "it waits for approval")
        group.add(other, isActive: true)
        #expect(group.isFirst(other, Self.agreement(.agreed)))
        #expect(!group.isFirst(other, Self.agreement(.refused)))
        group.negotiated(Self.agreement(.agreed), of: other, now: .zero)
        #expect(!group.isFirst(other, Self.agreement(.agreed)), "it sends already")
    }

    @Test("Any two events before an answer lead to the expected state")
    func fromTheBeginning() {
        #expect(
            Self.table(after: []) == [
                "  ADIELFRKSGBX",
                "A aiaiawaasaa-",
                "D aiiiiiiiiii-",
                "I aiiiiiiiiii-",
                "E iiiiiiiiiii-",
                "L aiiiiiiiiii-",
                "F aiiiiiiiiii-",
                "R aiiiiiiiiii-",
                "K aiiiiiiiiii-",
                "S aiiiiiiiiii-",
                "G aiiiiiiiiii-",
                "B aiiiiiiiiii-",
                "X ------------",
            ])
    }

    @Test("Any two events lead to the expected state of a viewer of the shared encoding")
    func whileSending() {
        #expect(
            Self.table(after: [.agreed, .keyFrameSent]) == [
                "  ADIELFRKSGBX",
                "A sisibwsssss-",
                "D aiiiiiiiiii-",
                "I sisibwsssss-",
                "E iiaiiiiiiii-",
                "L bibibbbbtbb-",
                "F wiwiawawwww-",
                "R sisibwsssss-",
                "K sisibwsssss-",
                "S sisibwsssss-",
                "G sisiswsssss-",
                "B sisibwsssss-",
                "X ------------",
            ])
    }

    @Test("Any two events lead to the expected state of a viewer that is withheld for its full queue")
    func whileWithheld() {
        #expect(
            Self.table(after: [.agreed, .keyFrameSent, .queueFilled]) == [
                "  ADIELFRKSGBX",
                "A wiwiawawwww-",
                "D aiiiiiiiiii-",
                "I wiwiawawwww-",
                "E iiaiiiiiiii-",
                "L aiaiaaaataa-",
                "F wiwiawawwww-",
                "R aiaiawaasaa-",
                "K wiwiawawwww-",
                "S wiwiawawwww-",
                "G wiwiwwwwwww-",
                "B wiwiawawwww-",
                "X ------------",
            ])
    }

    @Test("Any two events lead to the expected state of a viewer of its own encoding")
    func whileApart() {
        #expect(
            Self.table(after: [.agreed, .keyFrameSent, .pathFell, .keyFrameSent]) == [
                "  ADIELFRKSGBX",
                "A titittttttt-",
                "D aiiiiiiiiii-",
                "I titittttttt-",
                "E iiaiiiiiiii-",
                "L titittttttt-",
                "F titittttttt-",
                "R titittttttt-",
                "K titittttttt-",
                "S titittttttt-",
                "G titittttttt-",
                "B titittttttt-",
                "X ------------",
            ])
    }

    @Test("Frames are sent to viewers that can decode them, and to each of one encoding at a time")
    func recipients() {
        var scene = Scene()
        scene.take(.agreed)
        #expect(scene.group.numbers(of: 0, isKeyFrame: false) == [2])
        #expect(scene.keyFrames == 1)
        #expect(scene.group.numbers(of: 0, isKeyFrame: true) == [1, 2])
        // Until the first key frame of its own encoding, it is sent the shared one.
        scene.take(.pathFell)
        let own = scene.encodings.subtracting([0]).first ?? 0
        #expect(own > 0 && scene.state == "b")
        #expect(scene.group.numbers(of: own, isKeyFrame: false) == [])
        #expect(scene.group.numbers(of: 0, isKeyFrame: false) == [1, 2])
        #expect(scene.group.numbers(of: own, isKeyFrame: true) == [1])
        #expect(scene.group.numbers(of: 0, isKeyFrame: true) == [2])
        scene.take(.deactivated)
        #expect(scene.encodings == [0])
    }

    @Test(
        "A separated viewer that remains alone is sent its own encoding until the key frame of the shared one")
    func leftAlone() {
        var scene = Scene()
        var small = Self.agreement(.agreed)
        small.limits.maximumFramesPerSecond = 1
        scene.group.negotiated(small, of: scene.one, now: scene.now)
        scene.carryOut()
        let own = scene.group.encoding(of: scene.one)
        #expect(own > 0 && scene.encodings == [0, own])
        _ = scene.group.recipients(of: own, isKeyFrame: true)
        scene.group.remove(scene.other, now: scene.now)
        scene.carryOut()
        #expect(scene.group.numbers(of: own, isKeyFrame: true) == [1])
        #expect(scene.group.settings(of: 0, now: scene.now).bitrate == .zero)
        #expect(scene.group.settings(of: own, now: scene.now).bitrate > .zero)
        scene.now += .seconds(6)
        scene.group.move(now: scene.now)
        scene.carryOut()
        #expect(scene.encodings == [0, own] && scene.state == "b")
        #expect(scene.group.settings(of: own, now: scene.now).bitrate > .zero)
        #expect(scene.group.numbers(of: 0, isKeyFrame: true) == [1])
        scene.carryOut()
        #expect(scene.encodings == [0] && scene.state == "s")
    }

    @Test("Viewers of an encoding without an encoder are sent the first encoding")
    func noEncoder() {
        var scene = Scene()
        scene.take(.agreed)
        scene.take(.keyFrameSent)
        scene.group.targetChanged(
            BitrateTarget(bitrate: .kilobitsPerSecond(100)), of: scene.one, now: scene.now)
        scene.now += .seconds(3)
        scene.group.move(now: scene.now)
        scene.now += .seconds(2)
        scene.group.move(now: scene.now)
        guard case .begin(let encoding, _)? = scene.group.takeAction() else {
            Issue.record("no encoding of its own is wanted")
            return
        }
        scene.group.didFailToBegin(encoding, now: scene.now)
        #expect(scene.state == "s" && scene.group.encoding(of: scene.one) == 0)
        #expect(scene.group.settings(of: 0, now: scene.now).bitrate == .kilobitsPerSecond(100))
        scene.group.remove(scene.one, now: scene.now)
        while let action = scene.group.takeAction() { #expect(action != .end(0)) }
    }

    @Test("A viewer that is deactivated and activated again keeps its interval of key frames")
    func allowance() {
        var scene = Scene()
        var times: [Duration] = []
        for _ in 0..<6 {
            scene.take(.deactivated)
            scene.group.setActive(true, scene.one, now: scene.now)
            if times.isEmpty { scene.group.negotiated(Self.agreement(.agreed), of: scene.one, now: scene.now) }
            while let action = scene.group.takeAction() {
                if case .makeKeyFrame(_, let time) = action { times.append(time - scene.now) }
            }
            scene.now = max(scene.now, scene.now + (times.last ?? .zero))
        }
        #expect(times == [0, 300, 600, 1200, 2400, 4800].map { .milliseconds($0) })
    }

    @Test("A sender that is removed and added again waits for no key frame because of earlier requests")
    func forgottenRequests() {
        var scene = Scene()
        scene.take(.agreed)
        for _ in 0..<5 {
            scene.take(.deactivated)
            scene.take(.activated)
            scene.now += .milliseconds(100)
        }
        scene.take(.deactivated)
        scene.group.setActive(true, scene.one, now: scene.now)
        #expect(Self.keyFrameTimes(&scene.group).allSatisfy { $0 > scene.now })
        scene.take(.ended)
        scene.group.add(scene.one, isActive: true)
        scene.group.negotiated(Self.agreement(.agreed), of: scene.one, now: scene.now)
        #expect(Self.keyFrameTimes(&scene.group) == [scene.now])
    }

    /// Returns the times of the key frames that the group requests.
    private static func keyFrameTimes(_ group: inout EncodingGroup<NumberedVideoSender>) -> [Duration] {
        var times: [Duration] = []
        while let action = group.takeAction() {
            if case .makeKeyFrame(_, let time) = action { times.append(time) }
        }
        return times
    }

    @Test("A single viewer's request is answered at once, and later key frames take at most half of the bits")
    func loneViewer() {
        let one = NumberedVideoSender(1)
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(800)))
        group.add(one, isActive: true)
        group.negotiated(Self.agreement(.agreed), of: one, now: .zero)
        #expect(Self.keyFrameTimes(&group) == [.zero])
        _ = group.recipients(of: 0, isKeyFrame: true)
        // 100 ms at 800 kbit/s: the next may follow after 300 ms.
        group.keyFrameMade(of: 0, byteCount: 10_000, isBlurred: false, now: .zero)
        group.keyFrameRequested(by: one, now: .seconds(5))
        #expect(Self.keyFrameTimes(&group) == [.seconds(5)])
        // One second: two until the next.
        group.keyFrameMade(of: 0, byteCount: 100_000, isBlurred: false, now: .seconds(5))
        for milliseconds in [5100, 5200, 6900] {
            group.keyFrameRequested(by: one, now: .milliseconds(milliseconds))
        }
        group.keyFrameRequested(by: one, now: .seconds(8))
        #expect(Self.keyFrameTimes(&group) == [.seconds(7), .seconds(7), .seconds(7)])
        // A changed video is sent from a key frame on, which has the same interval.
        group.keyFrameMade(of: 0, byteCount: 1000, isBlurred: false, now: .seconds(8))
        group.keyFrameNeeded(of: 0, now: .seconds(8))
        #expect(Self.keyFrameTimes(&group) == [.seconds(8) + .milliseconds(300)])
    }

    @Test(
        "A viewer that keeps requesting causes ever fewer key frames, and another viewer's request is answered at once")
    func greedyViewer() {
        let (one, other) = (NumberedVideoSender(1), NumberedVideoSender(2))
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(1000)))
        for sender in [one, other] {
            group.add(sender, isActive: true)
            group.negotiated(Self.agreement(.agreed), of: sender, now: .zero)
        }
        _ = Self.keyFrameTimes(&group)
        _ = group.recipients(of: 0, isKeyFrame: true)
        group.keyFrameMade(of: 0, byteCount: 100, isBlurred: false, now: .zero)
        var wanted: Duration?
        var made: [Duration] = []
        for milliseconds in stride(from: 20_000, to: 50_000, by: 20) {
            let now = Duration.milliseconds(milliseconds)
            group.keyFrameRequested(by: one, now: now)
            if milliseconds == 45_000 { group.keyFrameRequested(by: other, now: now) }
            wanted = (Self.keyFrameTimes(&group) + [wanted].compactMap { $0 }).min()
            guard let time = wanted, time <= now else { continue }
            wanted = nil
            made.append(now)
            group.keyFrameMade(of: 0, byteCount: 100, isBlurred: false, now: now)
        }
        #expect(
            made.map { Int($0 / .milliseconds(1)) } == [
                20_000, 20_300, 20_900, 22_100, 24_500, 29_300, 38_900, 45_000, 48_900,
            ])
    }

    @Test("A new viewer waits no longer for a key frame than the last one takes at the present bitrate")
    func newcomerBesideSilentOne() {
        let (one, other) = (NumberedVideoSender(1), NumberedVideoSender(2))
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(2000)))
        for sender in [other, one] { group.add(sender, isActive: true) }
        group.negotiated(Self.agreement(.agreed), of: other, now: .zero)
        group.targetChanged(.init(bitrate: .kilobitsPerSecond(50)), of: other, now: .zero)
        _ = group.recipients(of: 0, isKeyFrame: true)
        // 4 s at 50 kbit/s, 200 ms at 1000.
        group.keyFrameMade(of: 0, byteCount: 25_000, isBlurred: false, now: .seconds(10))
        _ = Self.keyFrameTimes(&group)
        group.negotiated(Self.agreement(.agreed), of: one, now: .seconds(10))
        group.targetChanged(.init(bitrate: .kilobitsPerSecond(1000)), of: one, now: .seconds(10))
        #expect(Self.keyFrameTimes(&group) == [.seconds(13)])
        group.setUnresponsive(true, other, now: .milliseconds(10_100))
        #expect(Self.keyFrameTimes(&group) == [.milliseconds(10_400)])
        // It is on its way, and no other is made.
        group.targetChanged(.init(bitrate: .kilobitsPerSecond(1500)), of: one, now: .milliseconds(10_410))
        #expect(Self.keyFrameTimes(&group) == [])
    }

    @Test("No key frame is made for a viewer that does not answer, and one follows its first answer")
    func awayAndWithheld() {
        var scene = Scene()
        scene.take(.agreed)
        scene.take(.keyFrameSent)
        scene.take(.queueFilled)
        #expect(scene.state == "w")
        scene.group.setUnresponsive(true, scene.one, now: scene.now)
        scene.carryOut()
        scene.keyFrames = 0
        scene.take(.queueEmptied)
        #expect(scene.state == "w")
        #expect(scene.keyFrames == 0)
        // Its empty queue is ignored: the full queue of the other one delays encoding, and no viewer is withheld.
        scene.group.targetChanged(
            .init(bitrate: .kilobitsPerSecond(1000), isQueueFull: true), of: scene.other, now: scene.now)
        #expect(!scene.other.state.isWithheld)
        #expect(scene.group.isQueueFull(of: 0))
        scene.group.targetChanged(.init(bitrate: .kilobitsPerSecond(1000)), of: scene.other, now: scene.now)
        scene.group.setUnresponsive(false, scene.one, now: scene.now)
        scene.carryOut()
        #expect(scene.state == "a")
        #expect(scene.keyFrames == 1)
    }

    @Test("A pause withholds no viewer, and no key frame follows it")
    func pause() {
        var scene = Scene()
        scene.group.isShowing = true
        for event in [Event.agreed, .queueEmptied, .keyFrameSent] { scene.take(event) }
        scene.keyFrames = 0
        for _ in 0..<3 {
            scene.group.isShowing = false
            scene.report(.zero)
            #expect(scene.state == "s" && !scene.other.state.isWithheld)
            #expect(scene.group.settings(of: 0, now: scene.now).bitrate == .kilobitsPerSecond(1000))
            scene.now += .seconds(10)
            // The routes' bitrates arrive one after the other.
            scene.group.isShowing = true
            scene.report(.kilobitsPerSecond(1000))
        }
        #expect(scene.keyFrames == 0)
        #expect(scene.group.numbers(of: 0, isKeyFrame: false) == [1, 2])
        // A route without a bitrate for the video that is shown is withheld.
        scene.group.targetChanged(BitrateTarget(bitrate: .zero), of: scene.one, now: scene.now)
        #expect(scene.state == "w")
    }

    @Test("A viewer that is withheld when a pause begins gets a key frame")
    func withheldBeforePause() {
        var scene = Scene()
        scene.group.isShowing = true
        for event in [Event.agreed, .keyFrameSent, .queueFilled] { scene.take(event) }
        scene.keyFrames = 0
        scene.group.isShowing = false
        scene.report(.zero)
        #expect(scene.state == "a" && scene.keyFrames == 1)
        scene.take(.keyFrameSent)
        // Its route had no bitrate before the next pause either.
        scene.group.isShowing = true
        scene.group.targetChanged(BitrateTarget(bitrate: .zero), of: scene.one, now: scene.now)
        scene.group.isShowing = false
        scene.report(.zero)
        scene.group.isShowing = true
        #expect(scene.state == "w")
        scene.report(.kilobitsPerSecond(1000))
        #expect(scene.state == "a" && scene.keyFrames == 2)
    }

    @Test("After all orders of events, a frame goes to the senders of its encoding, in a list per event loop")
    func listsFollowPhases() {
        var random = SeededGenerator(seed: 35)
        let senders = (0..<12).map { NumberedVideoSender($0, on: $0 % 3 == 0 ? .second : .first) }
        var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(2000)))
        var (now, mostLists, encodings) = (Duration.zero, 0, Set<Int>())
        for _ in 0..<4000 {
            let sender = senders[Int.random(in: 0..<senders.count, using: &random)]
            switch Int.random(in: 0..<8, using: &random) {
            case 0 where group.senders[sender.id] == nil: group.add(sender, isActive: Bool.random(using: &random))
            case 1, 2: group.negotiated(Self.agreement(.agreed), of: sender, now: now)
            case 3:
                // Each keeps its rate for long enough to get a quality of its own.
                let rate = DataRate.kilobitsPerSecond([2000, 700, 60][sender.id / 4])
                group.targetChanged(
                    BitrateTarget(bitrate: rate, isQueueFull: Int.random(in: 0..<3, using: &random) == 0),
                    of: sender, now: now)
            case 4: group.setActive(Bool.random(using: &random), sender, now: now)
            case 5: group.setUnresponsive(Bool.random(using: &random), sender, now: now)
            case 6: group.move(now: now)
            default: if Int.random(in: 0..<3, using: &random) == 0 { group.remove(sender, now: now) }
            }
            while group.takeAction() != nil {}
            now += .milliseconds(300)
            for encoding in Set(senders.compactMap(\.state.phase.encoding) + senders.map { group.encoding(of: $0) }) {
                let lists = group.recipients(of: encoding, isKeyFrame: Bool.random(using: &random))
                let expected = group.senders.values.filter { $0.state.phase.encoding == encoding }.map(\.id)
                #expect(lists.joined().map(\.id).sorted() == expected.sorted())
                #expect(lists.allSatisfy { list in Set(list.map(\.loop)).count == 1 })
                mostLists = max(mostLists, lists.count)
                if !lists.isEmpty { encodings.insert(encoding) }
            }
        }
        #expect(mostLists == 2 && encodings.count > 1)
    }
}
