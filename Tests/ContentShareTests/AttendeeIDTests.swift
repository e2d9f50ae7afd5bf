import RTCShareContentShare
import Testing

@Suite struct AttendeeIDTests {
    @Test(
        "An id is split at its last #",
        arguments: [
            ("alice", "alice", AttendeeID.Modality.attendee),
            ("alice#content", "alice", .content),
            // The last # counts, and a modality that is not known is part of the name.
            ("a#b#content", "a#b", .content),
            ("alice#video", "alice#video", .attendee),
            ("alice#", "alice#", .attendee),
            ("#alice", "#alice", .attendee),
            ("alice#Content", "alice#Content", .attendee),
        ])
    func lastSeparator(text: String, base: String, modality: AttendeeID.Modality) throws {
        let id = try AttendeeID(text)
        #expect(id.rawValue == text)
        #expect(id.base == base)
        #expect(id.modality == modality)
    }

    @Test("What an attendee shares has the attendee's id with #content behind it")
    func contentID() throws {
        #expect(try AttendeeID("alice").content.rawValue == "alice#content")
        #expect(try AttendeeID("alice#content").content.rawValue == "alice#content")
    }

    @Test("Ids that can't be are refused with the reason")
    func refusals() {
        #expect(throws: AttendeeIDError.empty) { try AttendeeID("") }
        #expect(throws: AttendeeIDError.emptyBase("#content")) { try AttendeeID("#content") }
        #expect(throws: AttendeeIDError.tooLong(length: 129)) { try AttendeeID(String(repeating: "a", count: 129)) }
        #expect(throws: AttendeeIDError.self) { try AttendeeID(String(repeating: "a", count: 128)).content }
    }

    @Test(
        "A character that no SDP token has is refused (RFC 8866 9)",
        arguments: [
            " ", "\r\n", "\"", "(", ")", ",", "/", ":", ";", "<", "=", ">", "?", "@", "[", "\\", "]", "ä", "\0",
        ])
    func invalidCharacters(character: String) {
        #expect(throws: AttendeeIDError.character(Character(character), in: "a\(character)b")) {
            try AttendeeID("a\(character)b")
        }
    }
}
