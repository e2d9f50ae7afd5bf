@testable import RTCShareStreams

/// A sender without a connection, for the tests of groups.
final class NumberedSender<State>: GroupMember {
    let id: Int
    var state: State
    var position = 0
    var layers: [NumberedSender] = []
    private let eventLoop: NumberedLoop

    var loop: ObjectIdentifier { ObjectIdentifier(eventLoop) }

    init(_ id: Int, _ state: State, on eventLoop: NumberedLoop = .first) {
        self.id = id
        self.state = state
        self.eventLoop = eventLoop
    }
}

/// An event loop of numbered senders.
final class NumberedLoop: Sendable {
    static let first = NumberedLoop()
    static let second = NumberedLoop()
}

typealias NumberedVideoSender = NumberedSender<VideoSender.State>

extension NumberedVideoSender {
    convenience init(_ id: Int, on loop: NumberedLoop = .first) { self.init(id, VideoSender.State(), on: loop) }
}

typealias NumberedAudioSender = NumberedSender<AudioSender.State>

extension NumberedAudioSender {
    convenience init(_ id: Int) { self.init(id, AudioSender.State()) }
}

extension EncodingGroup<NumberedVideoSender> {
    /// The numbers of the senders that a frame is sent through, in order.
    mutating func numbers(of encoding: Int, isKeyFrame: Bool) -> [Int] {
        recipients(of: encoding, isKeyFrame: isKeyFrame).joined().map(\.id).sorted()
    }
}
