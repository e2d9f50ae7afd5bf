internal import Glibc
import RTCShareMedia
import RTCShareWireFormat

/// Takes a broadcast's bytes apart as they come, however they are cut. Lives on one thread.
///
///     length ─▶ token ─▶ head ─▶ body ─▶ (of a picture) pixels ─▶ head …
///
/// The caller asks where the next bytes are to go, puts some there, and says how many: a whole picture is received where
/// it stays.
final class BroadcastReader {
    /// What has come.
    enum Event {
        /// The first that comes.
        case token([UInt8])
        case message(BroadcastMessage)
        /// A picture with its pixels.
        case picture(PictureDescription, BroadcastPicture)
    }

    private enum Stage {
        case tokenLength
        case token
        case head
        case body(kind: UInt8)
        /// A plane of a picture that comes whole.
        case plane(Int, PictureDescription, BroadcastPicture)
        /// The pixels of a picture's parts.
        case parts(PictureDescription)
    }

    private var stage = Stage.tokenLength
    /// What is being received, where it does not go into a picture; as long as it will be.
    private var buffer: [UInt8] = [0, 0]
    /// How much of this stage has come.
    private var filled = 0
    private var pictures = BroadcastPictures()
    /// Whether pictures are taken: memory is made for nobody else's.
    var takesPictures = false

    /// Has `receive` put bytes where they go, and say how many, at least one; what that completes is returned.
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
        // What a large picture needed is not kept for small messages; what is of the right length is used again.
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
            // Nothing has changed, and that is worth a frame all the same.
            begin(.head, length: BroadcastMessage.headLength)
            guard let newest = pictures.newest, newest.size == description.size else {
                throw .network("changes to a frame that did not arrive")
            }
            return .picture(description, newest)
        }
        // Parts that overlap could be more than the picture has.
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
