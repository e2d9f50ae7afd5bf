internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

/// Reads the values of options and arguments. An error says which values are allowed.
enum OptionValue {
    /// A year. The clock's arithmetic does not hold much more.
    private static let longestDuration = 365.0 * 86_400

    /// A SPEC.
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

    /// The maximum bitrate of the content's video, in kbit/s.
    @Sendable static func videoBitrate(_ text: String) throws -> Int {
        try kilobits(text, in: VideoEncodingParameters.bitrates)
    }

    /// The maximum bitrate of audio, in kbit/s.
    @Sendable static func audioBitrate(_ text: String) throws -> Int {
        try kilobits(text, in: LocalAudioConfiguration.bitrates)
    }

    /// Frames per second.
    @Sendable static func frameRate(_ text: String) throws -> Double {
        guard let rate = Double(text), CaptureFormat.frameRates.contains(rate) else {
            throw ValidationError("use 0.1 to 240 frames per second")
        }
        return rate
    }

    /// The file of a snapshot.
    @Sendable static func snapshot(_ path: String) throws -> String {
        guard path.lowercased().hasSuffix(".png") else {
            throw ValidationError("snapshots are PNG files. Use a name that ends in .png")
        }
        return path
    }

    /// The seconds of a share.
    @Sendable static func duration(_ text: String) throws -> Double {
        guard let seconds = Double(text), seconds > 0, seconds <= longestDuration else {
            throw ValidationError("use a number of seconds above 0, at most 31536000 (a year)")
        }
        return seconds
    }

    /// The seconds of a demo.
    @Sendable static func demoDuration(_ text: String) throws -> Double {
        guard let seconds = Double(text), seconds > 0, seconds <= 3600 else {
            throw ValidationError("use a number of seconds above 0, at most 3600")
        }
        return seconds
    }

    /// `1280x720`.
    @Sendable static func size(_ text: String) throws -> PixelSize {
        guard let size = sides(text), VideoEncodingParameters(maxSize: size).problem == nil else {
            throw ValidationError("use WIDTHxHEIGHT, both 16 to 16383, such as 1280x720")
        }
        return size
    }

    /// The size of a test pattern.
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

    /// The number of a viewer.
    @Sendable static func viewer(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw ValidationError("use the number of a viewer, as rtcshare status lists it")
        }
        return number
    }

    /// How many viewers a share takes.
    @Sendable static func viewerCount(_ text: String) throws -> Int {
        guard let count = Int(text), (1...SharingRoom.maximumViewers).contains(count) else {
            throw ValidationError("use 1 to \(SharingRoom.maximumViewers)")
        }
        return count
    }

    /// A port to listen at; 0 is any free one.
    @Sendable static func listeningPort(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text) else { throw ValidationError("use 1 to 65535, or 0 for any free port") }
        return port
    }

    /// A port to connect to.
    @Sendable static func port(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text), port > 0 else { throw ValidationError("use 1 to 65535") }
        return port
    }

    /// Where the viewer page is served.
    @Sendable static func listenAddress(_ text: String) throws -> ListenAddress {
        guard let address = ListenAddress(text) else {
            throw ValidationError("use a port of 1 to 65535, or ADDRESS:PORT such as 127.0.0.1:8080")
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
