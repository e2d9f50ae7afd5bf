internal import Foundation

/// What a picture is called that is taken while a share is viewed.
enum SnapshotName {
    private static var time: Date.VerbatimFormatStyle {
        Date.VerbatimFormatStyle(
            format: """
                \(year: .defaultDigits)\(month: .twoDigits)\(day: .twoDigits)-\
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)
                """, timeZone: .current, calendar: .init(identifier: .gregorian))
    }

    /// `rtcshare-20251125-170542.png` in the folder that the program was started in; with a number where there is one already.
    static func path(at date: Date, isTaken: (String) -> Bool) -> String {
        let base = "rtcshare-\(date.formatted(time))"
        let names = [base + ".png"] + (2...99).map { "\(base)-\($0).png" }
        return names.first { !isTaken($0) } ?? base + ".png"
    }
}
