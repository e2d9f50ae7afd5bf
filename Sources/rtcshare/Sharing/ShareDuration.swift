internal import ArgumentParser

/// What `--duration` takes.
enum ShareDuration {
    /// A year; what is longer does not fit the clock's arithmetic for ever.
    private static let maximum = 365.0 * 86_400

    static func validate(_ seconds: Double?) throws {
        guard let seconds else { return }
        guard seconds > 0, seconds <= maximum else {
            throw ValidationError("--duration: give a number of seconds above zero, and at most a year")
        }
    }
}
