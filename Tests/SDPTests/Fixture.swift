import TestSupport
import Testing

/// A description that shows as its name among a test's cases.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String

    var testDescription: String { name }

    static let all: [Fixture] = [
        Fixture(name: "chromiumOffer", text: PeerDescriptions.chromiumOffer),
        Fixture(name: "chromiumAnswer", text: PeerDescriptions.chromiumAnswer),
        Fixture(name: "firefoxAnswer", text: PeerDescriptions.firefoxAnswer),
        Fixture(name: "aiortcOffer", text: PeerDescriptions.aiortcOffer),
        Fixture(name: "aiortcAnswer", text: PeerDescriptions.aiortcAnswer),
        Fixture(name: "gstreamerAnswer", text: PeerDescriptions.gstreamerAnswer),
    ]
}
