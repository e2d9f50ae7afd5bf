internal import Logging

/// The parts of the library's log that `RTCSHARE_LOG` selects: a level for all of it, and topics that are logged
/// completely.
struct LogChoice {
    static let levels = Logger.Level.allCases.map(\.rawValue)
    /// The topics that are logged once a second, and only if they are named.
    static let topics = ["rate"]

    private var level = Logger.Level.warning
    private var chosenTopics: Set<String> = []
    /// A name that is neither a level nor a topic.
    private(set) var unknown: String?

    /// Parses names that are separated by commas, such as `info,rate`.
    init(_ text: String) {
        for name in text.lowercased().split(separator: ",").map(String.init) {
            if let level = Logger.Level(rawValue: name) {
                self.level = level
            } else if Self.topics.contains(name) {
                chosenTopics.insert(name)
            } else {
                unknown = unknown ?? name
            }
        }
    }

    /// Returns the level of the logger with this label. A topic is the last part of one: `rtcshare.rate`.
    func level(ofLabel label: String) -> Logger.Level {
        let topic = label.split(separator: ".").last.map(String.init) ?? ""
        guard Self.topics.contains(topic) else { return level }
        return chosenTopics.contains(topic) ? .trace : .critical
    }
}
