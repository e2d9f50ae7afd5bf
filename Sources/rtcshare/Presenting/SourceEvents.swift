internal import FoundationEssentials
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareVideoCoding

/// The server-sent events of a ``SourceStream`` on their way to its reader, encoded on a thread of their own.
///
/// An event replaces an earlier one of the same kind and source that has not been encoded yet, so that a slow reader
/// gets the newest state, and little memory is in use.
final class SourceEvents: Sendable {
    /// A change of the sources.
    enum Event: Sendable {
        case screens(ScreenListing)
        case cameras(CameraListing)
        case sounds(SoundListing)
        /// The image of a source with this SPEC.
        case image(String, any VideoFrameBuffer)
        /// The peak level of a source, in decibels relative to full scale.
        case level(String, Double)
        /// The reason why a requested camera or microphone gives nothing.
        case problem(String, CommandFailure)

        /// The kind and the source.
        fileprivate var key: String {
            switch self {
            case .screens: "screens"
            case .cameras: "cameras"
            case .sounds: "audio"
            case .image(let spec, _): "image \(spec)"
            case .level(let spec, _): "level \(spec)"
            case .problem(let spec, _): "problem \(spec)"
            }
        }
    }

    private struct State {
        /// The keys of the events to encode, the oldest first.
        var order: [String] = []
        var events: [String: Event] = [:]
        /// The encoded events.
        var encoded: [[UInt8]] = []
        /// The reader, if it waits.
        var reader: CheckedContinuation<[UInt8]?, Never>?
        var isOver = false
        /// The actions that end the sources of the events.
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Mailbox(State())

    /// The number of encoded events that wait for the reader.
    private static let mostEncoded = 4

    /// Starts the thread that encodes.
    func start() {
        WorkerThread.start(named: "source events") { [self] in
            // The newest listings, which are not sent again.
            var sent: [String: [UInt8]] = [:]
            while let event = next() {
                guard let bytes = Self.encode(event) else { continue }
                switch event {
                case .screens, .cameras, .sounds:
                    guard sent.updateValue(bytes, forKey: event.key) != bytes else { continue }
                case .image, .level, .problem: break
                }
                pass(bytes)
            }
        }
    }

    /// Adds an event.
    func send(_ event: Event) {
        state.post { state in
            guard !state.isOver else { return }
            if state.events.updateValue(event, forKey: event.key) == nil { state.order.append(event.key) }
        }
    }

    /// Calls `ending` at the end, at once if that has come.
    func atEnd(_ ending: @escaping @Sendable () -> Void) {
        let isOver = state.post { state in
            if !state.isOver { state.endings.append(ending) }
            return state.isOver
        }
        if isOver { ending() }
    }

    /// Waits for the next encoded event; nil at the end. One task reads.
    func read() async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            let ready: [UInt8]?? = state.post { state in
                if state.isOver { return .some(nil) }
                if !state.encoded.isEmpty { return state.encoded.removeFirst() }
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    /// Ends the sources of the events, and the reader's wait.
    func end() {
        let (reader, endings) = state.post { state in
            defer { state = State(isOver: true) }
            return (state.reader, state.endings)
        }
        reader?.resume(returning: nil)
        guard !endings.isEmpty else { return }
        // Some wait for their thread, and this may be one that tasks share.
        WorkerThread.start(named: "source end") {
            for ending in endings { ending() }
        }
    }

    /// Waits for an event to encode; nil at the end.
    private func next() -> Event? {
        state.take { state in
            if state.isOver { return .done(nil) }
            guard state.encoded.count < Self.mostEncoded, let key = state.order.first else { return .wait(until: nil) }
            state.order.removeFirst()
            return .done(state.events.removeValue(forKey: key))
        }
    }

    private func pass(_ bytes: [UInt8]) {
        let reader = state.post { state in
            let reader = state.reader.take()
            if reader == nil, !state.isOver { state.encoded.append(bytes) }
            return reader
        }
        reader?.resume(returning: bytes)
    }

    private struct Level: Encodable {
        let spec: String
        let peak: Double
    }

    private struct Problem: Encodable {
        let spec: String
        let reason: String
        let remedy: String?
    }

    /// Returns the event's bytes (HTML §9.2); nil if an image can't be encoded.
    static func encode(_ event: Event) -> [UInt8]? {
        switch event {
        case .screens(let listing): bytes("screens", listing)
        case .cameras(let listing): bytes("cameras", listing)
        case .sounds(let listing): bytes("audio", listing)
        case .level(let spec, let peak): bytes("level", Level(spec: spec, peak: peak))
        case .problem(let spec, let failure):
            bytes("problem", Problem(spec: spec, reason: failure.message, remedy: failure.remedy))
        case .image(let spec, let image): Self.image(spec, image)
        }
    }

    private static func bytes(_ type: String, _ data: some Encodable) -> [UInt8]? {
        guard let text = try? ControlJSON.encode(data) else { return nil }
        return head(type) + text + Array("\n\n".utf8)
    }

    private static func head(_ type: String) -> [UInt8] { Array("event: \(type)\ndata: ".utf8) }

    /// Written without the encoder, which would look for characters to escape in the whole image.
    private static func image(_ spec: String, _ image: any VideoFrameBuffer) -> [UInt8]? {
        guard let spec = try? ControlJSON.encode(spec), let file = try? PNGWriter.bytes(image) else { return nil }
        let data = Data(file).base64EncodedData()
        var bytes = head("image") + Array("{\"image\":\"data:image/png;base64,".utf8)
        bytes.reserveCapacity(bytes.count + data.count + spec.count + 16)
        bytes += data
        bytes += Array("\",\"spec\":".utf8) + spec + Array("}\n\n".utf8)
        return bytes
    }
}
