package import Foundation

extension Process {
    private static let start = NSLock()

    /// Starts the program while no other program starts.
    ///
    /// A program inherits what is opened between Foundation's look for open files and its start: also the socket by which
    /// Foundation sees the end of another program. That end would be seen only when both programs have ended.
    package func runAlone() throws { try Self.start.withLock { try run() } }
}
