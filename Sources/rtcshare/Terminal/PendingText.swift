/// Text for a terminal or a pipe that may not accept any at the moment.
///
/// Text is written in order. If more than ``limit`` waits, the newest is dropped, which a line reports later. A waiting
/// status is replaced by the next one.
struct PendingText {
    /// Writes the beginning of the bytes without waiting, and returns its length.
    typealias Output = (ArraySlice<UInt8>) -> Int

    /// The maximum number of waiting bytes.
    static let limit = 64 * 1024
    private static let eraseRow = "\r\u{1B}[K"
    private static let omission = "Some messages are missing here: nothing could be written.\n"

    private var bytes: [UInt8] = []
    private var lacksText = false
    /// Whether there is a status in the last row, or one that waits to be written there.
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

    /// Writes as much as `output` accepts.
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
        // As long as nothing of it is written, the next one can replace it.
        let text = Array((Self.eraseRow + status).utf8)
        let count = output(text[...])
        guard count > 0 else { return }
        (hasStatus, waitingStatus) = (true, nil)
        bytes = Array(text.dropFirst(count))
        if !bytes.isEmpty { write(to: output) }
    }
}
