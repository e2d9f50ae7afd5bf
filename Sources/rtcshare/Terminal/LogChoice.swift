internal import Logging

/// What `RTCSHARE_LOG` chooses of the library's log: a level for all of it, and topics that are logged in full.
struct LogChoice {
    static let levels = Logger.Level.allCases.map(\.rawValue)
    /// What is logged once a second, and only if it is named.
    static let topics = ["rate"]

    private var level = Logger.Level.warning
    private var chosenTopics: Set<String> = []
    /// A name that is neither a level nor a topic.
    private(set) var unknown: String?

    /// Names with commas between, such as `info,rate`.
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

    /// The level of the logger with this label. A topic is the last part of one: `rtcshare.rate`.
    func level(ofLabel label: String) -> Logger.Level {
        let topic = label.split(separator: ".").last.map(String.init) ?? ""
        guard Self.topics.contains(topic) else { return level }
        return chosenTopics.contains(topic) ? .trace : .critical
    }
}
