import RTCShareMedia

/// A capturing process's connection to the sharing process: its state, and the frame that is under way.
final class BroadcastLink {
    /// An event from the sharing process.
    enum News {
        case welcomed, ended
    }

    let socket: BroadcastSocket
    private let tokens: BroadcastTokens
    private let transport: BroadcastTransport
    private let reader = BroadcastReader()
    /// Whether the sharing process has sent the expected token.
    private(set) var isTrusted = false
    /// Whether the sharing process has admitted this one.
    private(set) var isWelcome = false
    /// Whether the end of the source was sent.
    private(set) var isFinished = false
    /// Whether no memory was free for the last frame.
    private(set) var waitsForMemory = false
    private var writing: Writing?
    /// Whether a frame is under way that the sharing process has not consumed.
    private var isInFlight = false
    /// The size and format of the last frame that was sent.
    private var sent: (size: PixelSize, format: PixelFormat)?
    private var memory: FrameMemoryWriter?

    /// A frame that is not completely written: whole planes in place, or the parts one after the other.
    private struct Writing {
        enum Pixels {
            case planes(any VideoFrameBuffer, PictureDescription)
            case packed([UInt8])
        }

        let pixels: Pixels
        private var plane = 0
        private var offset = 0

        init(_ pixels: Pixels) {
            self.pixels = pixels
        }

        /// The length of the plane, or of all parts.
        private var length: Int {
            switch pixels {
            case .packed(let bytes): bytes.count
            case .planes(_, let description): description.byteCount(ofPlane: plane)
            }
        }

        private var isLast: Bool {
            guard case .planes(_, let description) = pixels else { return true }
            return plane + 1 == description.format.planeCount
        }

        var isDone: Bool { isLast && offset == length }

        /// Lends the bytes to write next.
        func withRest<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
            switch pixels {
            case .packed(let bytes):
                bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
            case .planes(let buffer, _):
                buffer.withPlanes { set in
                    body(UnsafeRawBufferPointer(rebasing: set.planes[plane][offset..<length]))
                }
            }
        }

        mutating func advance(by count: Int) {
            offset += count
            guard offset == length, !isLast else { return }
            plane += 1
            offset = 0
        }
    }

    /// The fraction of a frame above which it is sent as a whole.
    private static let largestShare = 0.6

    init(socket: BroadcastSocket, tokens: BroadcastTokens, transport: BroadcastTransport) {
        self.socket = socket
        self.tokens = tokens
        self.transport = transport
    }

    /// Sends this process's token.
    func begin() throws(BroadcastError) { try socket.send(tokens.greeting) }

    /// Whether bytes wait until the socket accepts them.
    var isPending: Bool { socket.isPending || isWritingPicture }

    /// Whether a frame's pixels are being written, between which no message can be sent.
    var isWritingPicture: Bool { writing != nil }

    /// Whether a frame can be sent now.
    var hasRoom: Bool { isWelcome && !isFinished && !isWritingPicture && !isInFlight }

    // MARK: Receiving

    /// Reads the messages that have arrived.
    func receive() throws(BroadcastError) -> News? {
        while true {
            var count = 0
            let event: BroadcastReader.Event?
            do {
                event = try reader.read { target in
                    count = try socket.read(into: target)
                    return count
                }
            } catch {
                throw error as? BroadcastError ?? .internal("\(error)")
            }
            guard count > 0 else { return nil }
            if let event, let news = try handle(event) { return news }
        }
    }

    private func handle(_ event: BroadcastReader.Event) throws(BroadcastError) -> News? {
        switch event {
        case .token(let token):
            guard tokens.accepts(token) else {
                throw .auth("the share showed another token than expected", remedy: BroadcastSending.tokenCheck)
            }
            isTrusted = true
            try socket.send(BroadcastMessage.hello(version: BroadcastMessage.version, transport: transport).encoded)
        case .message(.welcome):
            isWelcome = true
            return .welcomed
        case .message(.consumed): isInFlight = false
        case .message(.ended): return .ended
        case .message(.refused(let reason)):
            throw .network("the share refused this process, because \(reason)", remedy: "end the other process")
        case .message, .picture: throw .network("the share sent a message that only capturing processes send")
        }
        return nil
    }

    // MARK: Sending

    /// Sends the end of the source; nothing follows.
    func finish(_ message: BroadcastMessage) throws(BroadcastError) {
        guard !isFinished else { return }
        try socket.send(message.encoded)
        isFinished = true
    }

    /// Sends a frame, of which `changes` differ from the one before. Returns false if there is no room for it now.
    func send(_ frame: VideoFrame, changes: ChangedParts) throws(BroadcastError) -> Bool {
        let known = sent.map { $0 == (frame.size, frame.buffer.format) } ?? false
        let changes = known ? changes : .everything
        guard try transport == .tcp ? write(frame, changes) : share(frame, changes) else { return false }
        sent = (frame.size, frame.buffer.format)
        return true
    }

    private func write(_ frame: VideoFrame, _ changes: ChangedParts) throws(BroadcastError) -> Bool {
        let format = frame.buffer.format
        let aligned = changes.aligned(to: format, of: frame.size)
        let isSmall = Double(aligned.area(of: frame.size)) <= Self.largestShare * Double(frame.size.area)
        let description = PictureDescription(
            timestamp: frame.timestamp, rotation: frame.rotation, format: format, size: frame.size,
            strides: frame.buffer.withPlanes { $0.strides }, parts: isSmall ? aligned.parts : nil)
        // A frame that the sharing process would reject is detected here.
        try PictureDescription.check(size: frame.size, format: format, strides: description.strides)
        let picture = Writing(
            isSmall ? .packed(Self.pack(frame.buffer, description)) : .planes(frame.buffer, description))
        writing = picture.isDone ? nil : picture
        isInFlight = true
        try socket.send(BroadcastMessage.picture(description).encoded)
        try flush()
        return true
    }

    /// Returns the pixels of a description's parts.
    private static func pack(_ buffer: any VideoFrameBuffer, _ description: PictureDescription) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: description.payloadLength) { target, count in
            buffer.withPlanes { set in
                for part in description.parts ?? [] {
                    for plane in 0..<description.format.planeCount {
                        let place = description.format.extent(of: part, plane: plane)
                        for row in place.row..<place.row + place.rows {
                            let start = row * set.strides[plane] + place.column
                            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[count...])
                                .copyMemory(
                                    from: UnsafeRawBufferPointer(
                                        rebasing: set.planes[plane][start..<start + place.rowBytes]))
                            count += place.rowBytes
                        }
                    }
                }
            }
        }
    }

    /// Writes as much as the socket accepts now.
    func flush() throws(BroadcastError) {
        try socket.flush()
        while var current = writing {
            let written = try current.withRest { rest in
                Result { () throws(BroadcastError) in try socket.write(rest) }
            }.get()
            guard written > 0 else { return }
            current.advance(by: written)
            writing = current.isDone ? nil : current
        }
    }

    /// Writes a frame to shared memory, and creates new memory if it does not fit.
    private func share(_ frame: VideoFrame, _ changes: ChangedParts) throws(BroadcastError) -> Bool {
        if memory?.fits(frame) != true {
            // Descriptors need bytes of their own.
            guard !socket.isPending else {
                waitsForMemory = true
                return false
            }
            let bytes = FrameMemoryWriter.planeBytes(size: frame.size, format: frame.buffer.format)
            guard bytes <= BroadcastMessage.maximumPicture else {
                throw .network("a frame of \(frame.size) is larger than 7680x4320")
            }
            let new = try FrameMemoryWriter(planeBytes: bytes)
            try socket.send(BroadcastMessage.memory.encoded, passing: [new.descriptor])
            memory = new
        }
        waitsForMemory = memory?.write(frame, changes: changes) != true
        guard !waitsForMemory else { return false }
        // The sharing process checks the memory after each message: if one waits already, that is sufficient.
        if !socket.isPending { try socket.send(BroadcastMessage.written.encoded) }
        return true
    }
}
