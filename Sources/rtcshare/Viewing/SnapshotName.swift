internal import FoundationEssentials
internal import Glibc

/// The default name of a saved frame.
enum SnapshotName {
    /// Returns `rtcshare-20251125-170542.png` in the working directory, with a number if that file exists.
    static func path(at date: Date, isTaken: (String) -> Bool) -> String {
        let base = "rtcshare-\(date.dayAndTimeInName)"
        let names = [base + ".png"] + (2...99).map { "\(base)-\($0).png" }
        return names.first { !isTaken($0) } ?? base + ".png"
    }
}
