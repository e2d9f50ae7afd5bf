internal import Glibc
import RTCShareMedia
import RTCShareWireFormat

/// Parses the bytes of a connection as they arrive, in pieces of any size. Used on one thread.
///
///     length ─▶ token ─▶ head ─▶ body ─▶ (of a frame) pixels ─▶ head …
///
/// The caller requests memory for the next bytes, writes some to it, and reports their number: a whole frame is
/// received directly into its own memory.
final class BroadcastReader {
    /// A received token, message or frame.
    enum Event {
        /// The first event.
        case token([UInt8])
        case message(BroadcastMessage)
        /// A frame with its pixels.
        case picture(PictureDescription, BroadcastPicture)
    }

    private enum Stage {
        case tokenLength
        case token
        case head
        case body(kind: UInt8)
        /// A plane of a whole frame.
        case plane(Int, PictureDescription, BroadcastPicture)
        /// The pixels of a frame's parts.
        case parts(PictureDescription)
    }

    private var stage = Stage.tokenLength
    /// The buffer for everything that is not received directly into a frame, with the length of the current stage.
    private var buffer: [UInt8] = [0, 0]
    /// The number of bytes of this stage that have arrived.
    private var filled = 0
    private var pictures = BroadcastPictures()
    /// Whether frames are accepted: only an authenticated process gets memory for them.
    var takesPictures = false

    /// Lets `receive` write bytes, and return their number, at least one. Returns the event that they complete.
    func read(_ receive: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> Event? {
        if case .plane(let plane, let description, let picture) = stage {
            let end = description.byteCount(ofPlane: plane)
            let target = UnsafeMutableRawBufferPointer(rebasing: picture.planes[plane][filled..<end])
            filled += try receive(target)
            return filled == end ? nextPlane(after: plane, description, picture) : nil
        }
        let start = filled
        filled += try buffer.withUnsafeMutableBytes { bytes in
            try receive(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        return filled == buffer.count ? try complete() : nil
    }

    private func begin(_ stage: Stage, length: Int) {
        self.stage = stage
        filled = 0
        // The buffer of a large frame is not kept for small messages; one of the right length is reused.
        if buffer.count != length { buffer = Array(repeating: 0, count: length) }
    }

    private func complete() throws(BroadcastError) -> Event? {
        switch stage {
        case .tokenLength:
            let length = Int(buffer[0]) << 8 | Int(buffer[1])
            guard BroadcastTokens.lengths.contains(length) else {
                throw .auth("the other process sent a token of \(length) bytes: the length is wrong")
            }
            begin(.token, length: length)
            return nil
        case .token:
            defer { begin(.head, length: BroadcastMessage.headLength) }
            return .token(buffer)
        case .head:
            let head = try buffer.withRawSpan { bytes throws(BroadcastError) in try BroadcastMessage.head(bytes) }
            guard head.length > 0 else { return try didRead(head.kind, body: []) }
            begin(.body(kind: head.kind), length: head.length)
            return nil
        case .body(let kind): return try didRead(kind, body: buffer)
        case .parts(let description):
            let picture = buffer.withUnsafeBytes { pictures.apply(description, pixels: $0) }
            begin(.head, length: BroadcastMessage.headLength)
            guard let picture else { throw .network("changes to a frame that did not arrive") }
            return .picture(description, picture)
        case .plane: return nil
        }
    }

    private func didRead(_ kind: UInt8, body: [UInt8]) throws(BroadcastError) -> Event? {
        let message = try body.withRawSpan { bytes throws(BroadcastError) in
            try BroadcastMessage(kind: kind, body: bytes)
        }
        guard case .picture(let description) = message else {
            begin(.head, length: BroadcastMessage.headLength)
            return .message(message)
        }
        guard takesPictures else { throw .network("a frame that was not requested") }
        guard description.parts != nil else {
            begin(.plane(0, description, pictures.beginWhole(description)), length: 0)
            return nil
        }
        let length = description.payloadLength
        guard length > 0 else {
            // An unchanged frame is still delivered.
            begin(.head, length: BroadcastMessage.headLength)
            guard let newest = pictures.newest, newest.size == description.size else {
                throw .network("changes to a frame that did not arrive")
            }
            return .picture(description, newest)
        }
        // Overlapping parts could be larger than the frame.
        guard length <= BroadcastMessage.maximumPicture else {
            throw .network("parts of \(length) bytes of a frame of \(description.size)")
        }
        begin(.parts(description), length: length)
        return nil
    }

    private func nextPlane(after plane: Int, _ description: PictureDescription, _ picture: BroadcastPicture) -> Event? {
        guard plane + 1 == description.format.planeCount else {
            stage = .plane(plane + 1, description, picture)
            filled = 0
            return nil
        }
        pictures.finish()
        begin(.head, length: BroadcastMessage.headLength)
        return .picture(description, picture)
    }
}
