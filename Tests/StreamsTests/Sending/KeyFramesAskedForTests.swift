import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// From a viewer's picture loss indication through its connection and its encoding to a key frame, in virtual time.
@Suite struct KeyFramesAskedForTests {
    /// A connection whose frames come from an encoding that another viewer shares.
    private final class Scene {
        let call: SimulatedCall
        private(set) var group = EncodingGroup<NumberedVideoSender>(wanted: .init(bitrate: .kilobitsPerSecond(2000)))
        /// The duration of encoding, from the time at which a key frame may be made.
        let encodingTime: Duration
        /// The times since the beginning of the test at which key frames were made.
        private(set) var made: [Duration] = []
        private var wanted: Duration?
        private var heard = 0
        private let begin: Instant
        private let asking = NumberedVideoSender(1)
        private let other = NumberedVideoSender(2)

        init(encodingTime: Duration, isShared: Bool = true) throws {
            call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: 401)
            call.run(for: .seconds(2))
            try #require(call.record.connected != nil)
            self.encodingTime = encodingTime
            begin = call.now
            heard = call.record.keyFrameRequests
            var agreement = SenderAgreement()
            agreement.media = .agreed
            for sender in isShared ? [asking, other] : [asking] {
                group.add(sender, isActive: true)
                group.negotiated(agreement, of: sender, now: .zero)
            }
            while group.takeAction() != nil {}
            _ = group.recipients(of: 0, isKeyFrame: true)
            group.keyFrameMade(of: 0, byteCount: 1000, isBlurred: false, now: .zero)
        }

        private var now: Duration { .nanoseconds(call.now.nanoseconds) }

        /// The viewer sends a picture loss indication.
        func losePicture() {
            let loss = PictureLossIndication(
                sender: SynchronizationSource(7), media: SynchronizationSource(call.sender.localMedia[0].source))
            var bytes: [UInt8] = []
            RTCPPacket.pictureLossIndication(loss).append(to: &bytes)
            let now = call.now
            call.sender.receiveControl(bytes.span.bytes, now: now)
            call.sender.handleTimeout(now: now)
            run(for: .zero)
        }

        func run(for duration: Duration) {
            let end = call.now.advanced(by: duration)
            repeat {
                call.run(for: min(.milliseconds(5), end - call.now), sendsFrames: false)
                while heard < call.record.keyFrameRequests {
                    heard += 1
                    group.keyFrameRequested(by: asking, now: now)
                }
                while let action = group.takeAction() {
                    guard case .makeKeyFrame(0, let time) = action else { continue }
                    wanted = min(wanted ?? time, time)
                }
                if let time = wanted, now >= time + encodingTime {
                    wanted = nil
                    made.append(call.now - begin)
                    group.keyFrameMade(of: 0, byteCount: 1000, isBlurred: false, now: now)
                }
            } while call.now < end
        }
    }

    @Test("A repeated request while the key frame is under way causes no second one", arguments: [true, false])
    func askedTwice(isShared: Bool) throws {
        let scene = try Scene(encodingTime: .milliseconds(150), isShared: isShared)
        scene.losePicture()
        scene.run(for: .milliseconds(100))
        scene.losePicture()
        scene.run(for: .seconds(5))
        #expect(scene.made == [.milliseconds(150)])
    }

    @Test("Two requests soon after a key frame are answered by one, 300 ms after it", arguments: [true, false])
    func askedAfterKeyFrame(isShared: Bool) throws {
        let scene = try Scene(encodingTime: .zero, isShared: isShared)
        scene.losePicture()
        scene.run(for: .milliseconds(100))
        #expect(scene.made == [.zero])
        scene.losePicture()
        scene.run(for: .milliseconds(100))
        scene.losePicture()
        scene.run(for: .seconds(5))
        #expect(scene.made == [.zero, .milliseconds(300)])
    }

    @Test("A flood of requests causes no more key frames than the viewer's allowance")
    func flood() throws {
        let scene = try Scene(encodingTime: .zero)
        for _ in 0..<4000 {
            scene.losePicture()
            scene.run(for: .milliseconds(5))
        }
        #expect(scene.call.record.keyFrameRequests >= 4000)
        #expect(scene.made.map { Int($0 / .milliseconds(1)) } == [0, 300, 900, 2100, 4500, 9300, 18_900])
    }
}
