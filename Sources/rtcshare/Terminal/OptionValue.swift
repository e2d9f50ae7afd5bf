internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Parses the values of options and arguments. An error names the allowed values.
enum OptionValue {
    /// The maximum duration, a year: the clock's arithmetic does not support much more.
    private static let longestDuration = 365.0 * 86_400

    /// Parses a SPEC.
    @Sendable static func specification<Value: Specification>(_ text: String) throws -> Value {
        do throws(SpecificationError) {
            return try Value(text)
        } catch {
            switch error {
            case .invalidSpecification(_, let problem, let remedy):
                throw ValidationError(problem + ParserWords.remedyMark + remedy)
            }
        }
    }

    /// Parses the maximum bitrate of the content's video, in kbit/s.
    @Sendable static func videoBitrate(_ text: String) throws -> Int {
        try kilobits(text, in: VideoEncodingParameters.bitrates)
    }

    /// Parses the maximum bitrate of audio, in kbit/s.
    @Sendable static func audioBitrate(_ text: String) throws -> Int {
        try kilobits(text, in: AudioEncodingParameters.bitrates)
    }

    /// Parses a number of frames per second.
    @Sendable static func frameRate(_ text: String) throws -> Double {
        guard let rate = Double(text), CaptureFormat.frameRates.contains(rate) else {
            throw ValidationError("use 0.1 to 240 frames per second")
        }
        return rate
    }

    /// The value of `--codec` for a choice by the route and the machine.
    static let automaticCodec = "auto"

    /// The values of `--codec`.
    static var codecs: [String] { [automaticCodec] + VideoCodec.all.map { $0.name.lowercased() } }

    /// Parses the name of a video codec.
    @Sendable static func codec(_ text: String) throws -> String {
        guard text.lowercased() != automaticCodec else { return automaticCodec }
        do {
            return try VideoCodec.available(preferring: [text])[0].name
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Parses the file name of a snapshot.
    @Sendable static func snapshot(_ path: String) throws -> String {
        guard path.lowercased().hasSuffix(".png") else {
            throw ValidationError("snapshots are PNG files. Use a name that ends in .png")
        }
        return path
    }

    /// Parses the duration of a share in seconds.
    @Sendable static func duration(_ text: String) throws -> Double {
        guard let seconds = Double(text), seconds > 0, seconds <= longestDuration else {
            throw ValidationError("use a number of seconds above 0, at most 31536000 (a year)")
        }
        return seconds
    }

    /// Parses the duration of a demo in seconds.
    @Sendable static func demoDuration(_ text: String) throws -> Double {
        guard let seconds = Double(text), seconds > 0, seconds <= 3600 else {
            throw ValidationError("use a number of seconds above 0, at most 3600")
        }
        return seconds
    }

    /// Parses a size such as `1280x720`.
    @Sendable static func size(_ text: String) throws -> PixelSize {
        guard let size = sides(text), VideoEncodingParameters(maxSize: size).problem == nil else {
            throw ValidationError("use WIDTHxHEIGHT, both 16 to 16383, such as 1280x720")
        }
        return size
    }

    /// Parses the size of a test pattern.
    @Sendable static func patternSize(_ text: String) throws -> PixelSize {
        guard let size = sides(text), TestPattern.problem(with: size) == nil else {
            throw ValidationError("use even sides from 128x96 to 7680x4320, such as 1280x720")
        }
        return size
    }

    private static func sides(_ text: String) -> PixelSize? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Parses the number of a viewer.
    @Sendable static func viewer(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw ValidationError("use the number of a viewer, as rtcshare status lists it")
        }
        return number
    }

    /// Parses the maximum number of viewers.
    @Sendable static func viewerCount(_ text: String) throws -> Int {
        guard let count = Int(text), (1...SharingRoom.maximumViewers).contains(count) else {
            throw ValidationError("use 1 to \(SharingRoom.maximumViewers)")
        }
        return count
    }

    /// Parses a port to listen at; 0 is any free one.
    @Sendable static func listeningPort(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text) else { throw ValidationError("use 1 to 65535, or 0 for any free port") }
        return port
    }

    /// Parses a port to connect to.
    @Sendable static func port(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text), port > 0 else { throw ValidationError("use 1 to 65535") }
        return port
    }

    /// Parses the address of the viewer page.
    @Sendable static func listenAddress(_ text: String) throws -> ListenAddress {
        guard let address = ListenAddress(text) else {
            throw ValidationError(
                "use a port of 1 to 65535, 0 for any free port, or ADDRESS:PORT such as 127.0.0.1:8080")
        }
        return address
    }

    private static func kilobits(_ text: String, in rates: ClosedRange<DataRate>) throws -> Int {
        let range = rates.lowerBound.bitsPerSecond / 1000...rates.upperBound.bitsPerSecond / 1000
        guard let kilobits = Int(text), range.contains(Int64(kilobits)) else {
            throw ValidationError("use \(range.lowerBound) to \(range.upperBound) kbit/s")
        }
        return kilobits
    }
}
