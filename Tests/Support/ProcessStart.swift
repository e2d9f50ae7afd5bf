package import Foundation

extension Process {
    private static let start = NSLock()

    /// Starts the program while no other program starts.
    ///
    /// A program inherits every descriptor that is opened between Foundation's search for open files and its start,
    /// including the socket by which Foundation detects the end of another program. That end would be detected only
    /// when both programs have ended.
    package func runAlone() throws { try Self.start.withLock { try run() } }
}
