import RTCShareMedia
import RTCShareWireFormat

/// The messages of the two processes after each has verified the other's token.
///
///     0               1               2               3
///     +---------------+-----------------------------------------------+
///     | kind          | length of the body in bytes                   |
///     +---------------+-----------------------------------------------+
///     | body …                                                        |
///
/// All numbers are big-endian. The pixels of a frame follow its body, and the length does not include them.
enum BroadcastMessage: Hashable {
    // From the capturing process.
    /// The first message, with the version and the transport.
    case hello(version: UInt16, transport: BroadcastTransport)
    /// A descriptor of memory for frames comes with this message.
    case memory
    /// The memory has a new frame.
    case written
    /// Pixels follow.
    case picture(PictureDescription)
    /// The audio that the machine plays, or other audio of the shared content.
    case sound(AudioFrame)
    /// The audio of the microphone.
    case voice(AudioFrame)
    /// Capture is interrupted; the reason is for people.
    case interrupted(CaptureInterruption)
    case resumed
    /// The content hint of the frames.
    case hint(ContentHint)
    /// The source has ended; `error` describes it unless the end was requested.
    case finished(error: String?)

    // From the sharing process.
    /// The share waits for frames.
    case welcome
    /// The connection is rejected, with the reason, and ends.
    case refused(String)
    /// The frame was passed to the sinks; the next may be sent.
    case consumed
    /// The share is over, and does not need the capturing process any more.
    case ended

    static let version: UInt16 = 2
    /// The supported versions. 2 added the microphone.
    static let versions: ClosedRange<UInt16> = 1...version
    static let headLength = 4
    /// The maximum length of a body.
    static let maximumBody = 256 * 1024
    /// The maximum size of a frame in bytes: 8K in four bytes per pixel.
    static let maximumPicture = 7680 * 4320 * 4
    /// The maximum length of a text in bytes.
    static let maximumText = 1024
}

// MARK: Writing

extension BroadcastMessage {
    private var kind: UInt8 {
        switch self {
        case .hello: 1
        case .memory: 2
        case .picture: 3
        case .sound: 4
        case .interrupted: 5
        case .resumed: 6
        case .hint: 7
        case .finished: 8
        case .written: 9
        case .voice: 10
        case .welcome: 65
        case .refused: 66
        case .consumed: 67
        case .ended: 68
        }
    }

    /// The message's bytes; of a frame, without its pixels.
    var encoded: [UInt8] {
        var body: [UInt8] = []
        switch self {
        case .hello(let version, let transport):
            body += Self.magic
            body.append(bigEndian: version)
            body.append(transport == .tcp ? 0 : 1)
        case .picture(let picture): picture.append(to: &body)
        case .sound(let frame), .voice(let frame):
            body.append(bigEndian: frame.timestamp.wholeNanoseconds)
            body.append(bigEndian: UInt32(clamping: frame.sampleRate))
            body.append(UInt8(clamping: frame.channels))
            for sample in frame.samples { body.append(bigEndian: sample.bitPattern) }
        case .interrupted(let interruption):
            switch interruption {
            case .minimized: body.append(0)
            case .movedOffScreen: body.append(1)
            case .extensionUnavailable(let reason): body = [2] + Self.text(reason)
            case .awaitingPicture: body.append(3)
            case .cameraUnavailable(let reason): body = [4] + Self.text(reason)
            case .heldByDesktop: body.append(5)
            case .audioUnavailable(let reason): body = [6] + Self.text(reason)
            case .sourceMuted: body.append(7)
            case .displayUnavailable(let reason): body = [8] + Self.text(reason)
            case .awaitingChoice: body.append(9)
            }
        case .hint(let hint): body.append(hint.code)
        case .finished(let error): body = error.map { [1] + Self.text($0) } ?? [0]
        case .refused(let reason): body = Self.text(reason)
        case .memory, .written, .resumed, .welcome, .consumed, .ended: break
        }
        var bytes = [kind]
        bytes.append(bigEndian24: UInt32(body.count))
        return bytes + body
    }

    /// Returns the messages for a block of audio of any length, each created by `message`; none if the sharing process
    /// would reject it.
    static func sounds(
        of frame: AudioFrame, as message: (AudioFrame) -> BroadcastMessage = BroadcastMessage.sound
    ) -> [BroadcastMessage] {
        guard soundRates.contains(frame.sampleRate) else { return [] }
        let frame = frame.mixed(toChannels: min(frame.channels, soundChannels.upperBound))
        guard frame.samples.count > longestSound else { return [message(frame)] }
        let whole = longestSound - longestSound % frame.channels
        return stride(from: 0, to: frame.samples.count, by: whole).map { start in
            message(
                AudioFrame(
                    samples: Array(frame.samples[start..<min(start + whole, frame.samples.count)]),
                    channels: frame.channels, sampleRate: frame.sampleRate,
                    timestamp: frame.timestamp
                        + .nanoseconds(Int64(start / frame.channels) * 1_000_000_000 / Int64(frame.sampleRate))))
        }
    }

    private static let soundRates = 8000...192_000
    private static let soundChannels = 1...8
    /// The maximum number of samples in one message, of all channels.
    private static let longestSound = 32_768

    private static let magic = Array("RTCSHARE".utf8)

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8.prefix(maximumText)) }
}

// MARK: Reading

extension BroadcastMessage {
    /// Parses the kind and the body's length in a head.
    static func head(_ bytes: RawSpan) throws(BroadcastError) -> (kind: UInt8, length: Int) {
        var reader = ByteReader(bytes)
        do {
            let kind = try reader.readUInt8()
            let length = Int(try reader.readUInt24())
            guard length <= maximumBody else {
                throw BroadcastError.network("a message of \(length) bytes, of which at most \(maximumBody) are taken")
            }
            return (kind, length)
        } catch let error as BroadcastError {
            throw error
        } catch {
            throw .network("a message's head has \(bytes.byteCount) bytes, not \(headLength)")
        }
    }

    /// Parses a body.
    init(kind: UInt8, body: RawSpan) throws(BroadcastError) {
        var reader = ByteReader(body)
        do {
            self = try Self.read(kind, &reader)
        } catch let error as BroadcastError {
            throw error
        } catch {
            throw .network("a message of kind \(kind) ends too early, after \(body.byteCount) bytes")
        }
        guard reader.remaining == 0 else {
            throw .network("a message of kind \(kind) has \(reader.remaining) bytes too many")
        }
    }

    private static func read(_ kind: UInt8, _ reader: inout ByteReader) throws -> BroadcastMessage {
        switch kind {
        case 1:
            guard try reader.readArray(magic.count) == magic else {
                throw BroadcastError.network("the other process is not rtcshare")
            }
            let version = try reader.readUInt16()
            guard versions.contains(version) else {
                throw BroadcastError.network(
                    "the other process has version \(version), and this one \(Self.version)",
                    remedy: "use the same version for both processes")
            }
            return .hello(version: version, transport: try reader.readUInt8() == 0 ? .tcp : .sharedMemory)
        case 2: return .memory
        case 3: return .picture(try PictureDescription(&reader))
        case 4: return .sound(try sound(&reader))
        case 5:
            switch try reader.readUInt8() {
            case 0: return .interrupted(.minimized)
            case 1: return .interrupted(.movedOffScreen)
            case 3: return .interrupted(.awaitingPicture)
            case 4: return .interrupted(.cameraUnavailable(reason: text(&reader)))
            case 5: return .interrupted(.heldByDesktop)
            case 6: return .interrupted(.audioUnavailable(reason: text(&reader)))
            case 7: return .interrupted(.sourceMuted)
            case 8: return .interrupted(.displayUnavailable(reason: text(&reader)))
            case 9: return .interrupted(.awaitingChoice)
            default: return .interrupted(.extensionUnavailable(reason: text(&reader)))
            }
        case 6: return .resumed
        case 7: return .hint(ContentHint(code: try reader.readUInt8()))
        case 8: return .finished(error: try reader.readUInt8() == 0 ? nil : text(&reader))
        case 9: return .written
        case 10: return .voice(try sound(&reader))
        case 65: return .welcome
        case 66: return .refused(text(&reader))
        case 67: return .consumed
        case 68: return .ended
        default: throw BroadcastError.network("a message of the unknown kind \(kind)")
        }
    }

    /// Returns the rest as text, without characters that control a terminal.
    private static func text(_ reader: inout ByteReader) -> String {
        let text = String(decoding: [UInt8](reader.readRemaining()).prefix(maximumText), as: UTF8.self)
        return String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    private static func sound(_ reader: inout ByteReader) throws -> AudioFrame {
        let timestamp = Duration.nanoseconds(Int64(bitPattern: try reader.readUInt64()))
        let rate = Int(try reader.readUInt32())
        let channels = Int(try reader.readUInt8())
        guard soundRates.contains(rate), soundChannels.contains(channels), reader.remaining % (4 * channels) == 0 else {
            throw BroadcastError.network(
                "audio of \(channels) channels at \(rate) Hz in \(reader.remaining) bytes, and 1 to 8 at 8000 to 192000 Hz are taken"
            )
        }
        var samples: [Float] = []
        samples.reserveCapacity(reader.remaining / 4)
        while reader.remaining > 0 {
            let sample = Float(bitPattern: try reader.readUInt32())
            samples.append(sample.isFinite ? sample : 0)
        }
        return AudioFrame(samples: samples, channels: channels, sampleRate: rate, timestamp: timestamp)
    }
}

extension Duration {
    /// The whole nanoseconds, limited to 64 bits.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000
    }
}

extension PixelFormat {
    /// The encoded value.
    var code: UInt8 {
        switch self {
        case .i420: 0
        case .nv12: 1
        case .bgra: 2
        case .argb: 3
        }
    }

    init?(code: some BinaryInteger) {
        switch code {
        case 0: self = .i420
        case 1: self = .nv12
        case 2: self = .bgra
        case 3: self = .argb
        default: return nil
        }
    }
}

extension ContentHint {
    fileprivate var code: UInt8 {
        switch self {
        case .none: 0
        case .text: 1
        case .detail: 2
        case .motion: 3
        }
    }

    fileprivate init(code: UInt8) {
        switch code {
        case 1: self = .text
        case 2: self = .detail
        case 3: self = .motion
        default: self = .none
        }
    }
}
