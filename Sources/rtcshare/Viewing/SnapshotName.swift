internal import FoundationEssentials
internal import Glibc

/// What a picture is called that is taken while a share is viewed.
enum SnapshotName {
    /// `rtcshare-20251125-170542.png` in the folder that the program was started in; with a number where there is one already.
    static func path(at date: Date, isTaken: (String) -> Bool) -> String {
        let base = "rtcshare-\(date.dayAndTimeInName)"
        let names = [base + ".png"] + (2...99).map { "\(base)-\($0).png" }
        return names.first { !isTaken($0) } ?? base + ".png"
    }
}
