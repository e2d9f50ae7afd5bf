import RTCShareMedia

/// An extension's connection to the app: what has been said on it, and the picture that is under way.
final class BroadcastLink {
    /// What the app has said that matters.
    enum News {
        case welcomed, ended
    }

    let socket: BroadcastSocket
    private let tokens: BroadcastTokens
    private let transport: BroadcastTransport
    private let reader = BroadcastReader()
    /// The app has shown that it knows its token.
    private(set) var isTrusted = false
    /// The app has let us in.
    private(set) var isWelcome = false
    /// The app was told that the source has ended.
    private(set) var isFinished = false
    /// No memory was free for the last picture.
    private(set) var waitsForMemory = false
    private var writing: Writing?
    /// A picture is under way that the app has not taken.
    private var isInFlight = false
    /// What the app's newest picture is like.
    private var sent: (size: PixelSize, format: PixelFormat)?
    private var memory: FrameMemoryWriter?

    /// A picture of which not all is written: whole planes as they lie, or the parts one after the other.
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

        /// Bytes of the plane, or of all parts.
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

        /// Lends what is to be written next.
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

    /// Of a picture, what may go part by part; more goes whole.
    private static let largestShare = 0.6

    init(socket: BroadcastSocket, tokens: BroadcastTokens, transport: BroadcastTransport) {
        self.socket = socket
        self.tokens = tokens
        self.transport = transport
    }

    /// Shows this side's token.
    func begin() throws(BroadcastError) { try socket.send(tokens.greeting) }

    /// Whether something waits until the socket takes it.
    var isPending: Bool { socket.isPending || isWritingPicture }

    /// Whether a picture's pixels are being written, between which nothing else can be said.
    var isWritingPicture: Bool { writing != nil }

    /// Whether a picture can be handed over now.
    var hasRoom: Bool { isWelcome && !isFinished && !isWritingPicture && !isInFlight }

    // MARK: What the app says

    /// Takes what has come.
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

    // MARK: What it is told

    /// Says that the source has ended; nothing follows.
    func finish(_ message: BroadcastMessage) throws(BroadcastError) {
        guard !isFinished else { return }
        try socket.send(message.encoded)
        isFinished = true
    }

    /// Hands over a picture, of which `changes` differ from the one before; false where there is no room for it now.
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
        // What the app would refuse is found here.
        try PictureDescription.check(size: frame.size, format: format, strides: description.strides)
        let picture = Writing(
            isSmall ? .packed(Self.pack(frame.buffer, description)) : .planes(frame.buffer, description))
        writing = picture.isDone ? nil : picture
        isInFlight = true
        try socket.send(BroadcastMessage.picture(description).encoded)
        try flush()
        return true
    }

    /// The pixels of a description's parts.
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

    /// Writes what the socket takes now.
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

    /// Puts a picture into shared memory, and makes new memory where it does not fit.
    private func share(_ frame: VideoFrame, _ changes: ChangedParts) throws(BroadcastError) -> Bool {
        if memory?.fits(frame) != true {
            // Descriptors go with bytes of their own.
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
        // The app looks at the memory after each message: where one waits already, it is told enough.
        if !socket.isPending { try socket.send(BroadcastMessage.written.encoded) }
        return true
    }
}
