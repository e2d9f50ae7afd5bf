/// Text for a terminal or a pipe that may take none at the moment.
///
/// What is written is given away in its order. If more waits than ``limit``, the newest is left out, and a line says so later. A
/// status that waits is replaced by the next one.
struct PendingText {
    /// Writes a beginning of the bytes without waiting, and returns its length.
    typealias Output = (ArraySlice<UInt8>) -> Int

    /// The most bytes that wait.
    static let limit = 64 * 1024
    private static let eraseRow = "\r\u{1B}[K"
    private static let omission = "Some messages are missing here: nothing could be written.\n"

    private var bytes: [UInt8] = []
    private var lacksText = false
    /// The status that stands in the last row, or waits to be written there.
    private var hasStatus = false
    private var waitingStatus: String?

    var isEmpty: Bool { bytes.isEmpty && waitingStatus == nil }

    mutating func append(_ text: String, to output: Output) {
        let text = (hasStatus ? Self.eraseRow : "") + text
        (hasStatus, waitingStatus) = (false, nil)
        if lacksText || bytes.count + text.utf8.count > Self.limit {
            lacksText = true
        } else {
            bytes += Array(text.utf8)
        }
        write(to: output)
    }

    mutating func setStatus(_ line: String, to output: Output) {
        waitingStatus = line
        write(to: output)
    }

    mutating func finishStatus(to output: Output) {
        write(to: output)
        waitingStatus = nil
        guard hasStatus else { return }
        hasStatus = false
        bytes.append(UInt8(ascii: "\n"))
        write(to: output)
    }

    /// Writes as much as `output` takes.
    mutating func write(to output: Output) {
        while !bytes.isEmpty || lacksText {
            if bytes.isEmpty {
                lacksText = false
                bytes = Array(Self.omission.utf8)
            }
            let count = output(bytes[...])
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
        guard let status = waitingStatus else { return }
        // As long as nothing of it is written, the next one can take its place.
        let text = Array((Self.eraseRow + status).utf8)
        let count = output(text[...])
        guard count > 0 else { return }
        (hasStatus, waitingStatus) = (true, nil)
        bytes = Array(text.dropFirst(count))
        if !bytes.isEmpty { write(to: output) }
    }
}
