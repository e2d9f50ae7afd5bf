import RTCShareContentShare
import Testing

@Suite struct AttendeeIDTests {
    @Test(
        "An id is split at its last #",
        arguments: [
            ("alice", "alice", AttendeeID.Modality.attendee),
            ("alice#content", "alice", .content),
            // The last # counts, and an unknown modality is part of the base.
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

    @Test("The id of an attendee's content is the attendee's id with #content after it")
    func contentID() throws {
        #expect(try AttendeeID("alice").content.rawValue == "alice#content")
        #expect(try AttendeeID("alice#content").content.rawValue == "alice#content")
    }

    @Test(
        "A name in any script is encoded as a token and decoded again",
        arguments: [
            ("alice", "alice"), ("Jörg Müller", "J%C3%B6rg%20M%C3%BCller"), ("山田", "%E5%B1%B1%E7%94%B0"),
            ("100%", "100%25"), ("%41", "%2541"), ("a\u{301}/b", "a%CC%81%2Fb"),
        ])
    func names(name: String, token: String) throws {
        let id = try AttendeeID(named: name)
        #expect(id.rawValue == token && id.name == name && id.modality == .attendee)
        let content = try AttendeeID(id.content.rawValue)
        #expect(content.name == name && content.label == name + "#content")
        #expect(try AttendeeID(named: name + "#content") == content)
    }

    @Test(
        "An id that is not percent-encoded text is its own name, without control characters",
        arguments: [
            ("50%", "50%"), ("%zz", "%zz"), ("%+1", "%+1"), ("%FF", "%FF"), ("a%0Ab%1B", "a\u{FFFD}b\u{FFFD}"),
        ])
    func foreignNames(id: String, name: String) throws {
        #expect(try AttendeeID(id).name == name)
    }

    @Test("An invalid id is rejected with the reason")
    func refusals() {
        #expect(throws: AttendeeIDError.empty) { try AttendeeID("") }
        #expect(throws: AttendeeIDError.emptyBase("#content")) { try AttendeeID("#content") }
        #expect(throws: AttendeeIDError.tooLong(length: 129)) { try AttendeeID(String(repeating: "a", count: 129)) }
        #expect(throws: AttendeeIDError.self) { try AttendeeID(String(repeating: "a", count: 128)).content }
    }

    @Test(
        "A character that an SDP token can't have is rejected (RFC 8866 9)",
        arguments: [
            " ", "\r\n", "\"", "(", ")", ",", "/", ":", ";", "<", "=", ">", "?", "@", "[", "\\", "]", "ä", "\0",
        ])
    func invalidCharacters(character: String) {
        #expect(throws: AttendeeIDError.character(Character(character), in: "a\(character)b")) {
            try AttendeeID("a\(character)b")
        }
    }
}
