import Foundation
import Testing

@testable import RTCShareSignaling

@Suite("The publishers of a subscriber")
struct SubscribedPublishersTests {
    /// Returns the report of a room with these publishers, and with one participant who does not publish.
    private static func room(_ publishers: [String: Int]) throws -> JanusRoomReport {
        var listed = [#"{"id":99,"display":"guest"}"#]
        for (name, id) in publishers.sorted(by: { $0.value < $1.value }) {
            listed.append(#"{"id":\#(id),"display":"\#(name)","publisher":true}"#)
        }
        return try report(#""participants":[\#(listed.joined(separator: ","))]"#)
    }

    /// Returns the streams of a subscriber, one of each id; nil is the stream of a publisher that has left.
    private static func streams(_ ids: [Int?]) throws -> [JanusRoomReport.Stream] {
        let streams = ids.map { id in id.map { #"{"mid":"0","feed_id":\#($0)}"# } ?? #"{"mid":"0"}"# }
        return try report(#""streams":[\#(streams.joined(separator: ","))]"#).streams ?? []
    }

    private static func report(_ members: String) throws -> JanusRoomReport {
        try JSONDecoder().decode(JanusRoomReport.self, from: Data(#"{"videoroom":"event",\#(members)}"#.utf8))
    }

    @Test("All publishers are present at the start of the first session, and at least one in a retry")
    func start() throws {
        var first = SubscribedPublishers(["screen", "camera"])
        #expect(try first.start(with: Self.room(["camera": 1, "screen": 2])) == [.number(2), .number(1)])
        #expect(first.missing.isEmpty)
        var incomplete = SubscribedPublishers(["screen", "camera"])
        #expect(throws: JanusError.noPublisher("screen", present: ["camera"])) {
            try incomplete.start(with: Self.room(["camera": 1]))
        }
        var retry = SubscribedPublishers(["screen", "camera"], canBeAbsent: true)
        #expect(throws: JanusError.noPublisher("screen", present: [])) { try retry.start(with: Self.room([:])) }
        #expect(try retry.start(with: Self.room(["camera": 1])) == [.number(1)])
        #expect(retry.missing == ["screen"])
    }

    @Test("A publisher who returns is received, although another one has ended for good")
    func returnOfOne() throws {
        var publishers = SubscribedPublishers(["a", "b", "c"])
        _ = try publishers.start(with: Self.room(["a": 1, "b": 2, "c": 3]))
        // One ends for good, and another one leaves later.
        publishers.update(try Self.streams([nil, 2, 3]))
        #expect(try publishers.returned(in: Self.room(["b": 2, "c": 3])).isEmpty)
        publishers.update(try Self.streams([nil, nil, 3]))
        #expect(publishers.missing == ["a", "b"])
        // A publisher that has just left can still be listed.
        #expect(try publishers.returned(in: Self.room(["b": 2, "c": 3])).isEmpty)
        #expect(try publishers.returned(in: Self.room(["c": 3])).isEmpty)
        #expect(try publishers.returned(in: Self.room(["b": 4, "c": 3])).isEmpty)
        #expect(try publishers.returned(in: Self.room(["b": 4, "c": 3])) == ["b"])
        // The next session receives the present one, and looks for the first one.
        var next = SubscribedPublishers(["a", "b", "c"], canBeAbsent: true)
        #expect(try next.start(with: Self.room(["b": 4, "c": 3])) == [.number(4), .number(3)])
        next.update(try Self.streams([4, 3]))
        for returned: Set<String> in [[], ["a"]] {
            #expect(try next.returned(in: Self.room(["a": 5, "b": 4, "c": 3])) == returned)
        }
    }
}
