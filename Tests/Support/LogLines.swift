package import Logging
package import RTCShareLocks

/// Records the lines of a logger.
package final class LogLines: Sendable {
    package let all = Locked<[String]>([])

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel: Logger.Level
        var metadata = Logger.Metadata()

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.message)") } }
    }

    package init() {}

    package func logger(label: String, level: Logger.Level = .trace) -> Logger {
        Logger(label: label) { _ in Handler(lines: self, logLevel: level) }
    }
}
