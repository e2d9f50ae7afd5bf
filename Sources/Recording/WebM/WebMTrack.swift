internal import RTCShareMedia

/// The description of a track in the header of a WebM file.
struct WebMTrack: Sendable, Hashable {
    /// The codec of a track's blocks.
    enum Kind: Sendable, Hashable {
        /// Frames of a video codec.
        case video(Video)
        /// Opus packets.
        case opus
    }

    /// The properties of the first frames of a video. Key frames can change the size.
    struct Video: Sendable, Hashable {
        let codecID: String
        /// The data that decoders need before the first frame; empty if they need none.
        let privateData: [UInt8]
        let size: PixelSize
        /// The number of quarter turns clockwise that make frames upright.
        let quarterTurns: Int

        init(codecID: String, privateData: [UInt8] = [], size: PixelSize, quarterTurns: Int = 0) {
            self.codecID = codecID
            self.privateData = privateData
            self.size = size
            self.quarterTurns = quarterTurns
        }
    }

    /// The track's number in its blocks, from 1 on.
    let number: Int
    /// The codec of its blocks.
    let kind: Kind
    /// The name for people.
    let name: String
    /// Whether it comes before the others of its kind, for players that show only one.
    let isMain: Bool

    init(number: Int, kind: Kind, name: String, isMain: Bool) {
        self.number = number
        self.kind = kind
        self.name = name
        self.isMain = isMain
    }

    var isPicture: Bool {
        if case .video = kind { true } else { false }
    }

    /// Whether one track comes before another in a file: players that show one of a kind take the first.
    static func comesFirst(_ left: WebMTrack, _ right: WebMTrack) -> Bool {
        (left.isMain ? 0 : 1, left.isPicture ? 0 : 1, left.number)
            < (right.isMain ? 0 : 1, right.isPicture ? 0 : 1, right.number)
    }

    func write(isDefault: Bool, to writer: inout EBML) {
        writer.write(.trackEntry) { entry in
            entry.write(.trackNumber, UInt64(number))
            entry.write(.trackUID, UInt64(number))
            entry.write(.trackType, isPicture ? 1 : 2)
            entry.write(.flagDefault, isDefault ? 1 : 0)
            entry.write(.flagLacing, 0)
            // The language is unknown; without this element it would be English.
            entry.write(.language, "und")
            entry.write(.name, name)
            switch kind {
            case .video(let video): Self.write(video, to: &entry)
            case .opus: Self.writeOpus(to: &entry)
            }
        }
    }

    private static func write(_ video: Video, to entry: inout EBML) {
        entry.write(.codecID, video.codecID)
        if !video.privateData.isEmpty { entry.write(.codecPrivate, video.privateData) }
        entry.write(.video) { element in
            element.write(.pixelWidth, UInt64(video.size.width))
            element.write(.pixelHeight, UInt64(video.size.height))
            // All codecs use BT.601 at all sizes (RFC 6386 §9.2); without this, players assume BT.709 for large frames.
            element.write(.colour) { colour in
                colour.write(.matrixCoefficients, 6)
                colour.write(.range, 1)
                colour.write(.transferCharacteristics, 6)
                colour.write(.primaries, 1)
            }
            guard let roll = roll(video.quarterTurns) else { return }
            element.write(.projection) { projection in
                // A rectangular projection.
                projection.write(.projectionType, 0)
                projection.write(.projectionPoseRoll, EBML.fixed(roll.bitPattern, byteCount: 8))
            }
        }
    }

    /// Returns the rotation in degrees, counterclockwise, from -180 to 180 (RFC 9559 §5.1.4.1.28.46); nil for none.
    private static func roll(_ quarterTurns: Int) -> Double? {
        switch quarterTurns & 3 {
        case 1: -90
        case 2: 180
        case 3: 90
        default: nil
        }
    }

    private static func writeOpus(to entry: inout EBML) {
        entry.write(.codecID, "A_OPUS")
        entry.write(.codecPrivate, OpusFiller.identificationHeader)
        // Blocks have the time of their decoded audio.
        entry.write(.codecDelay, 0)
        // RFC 7845 §4.6: after a seek, a decoder needs 80 ms to converge.
        entry.write(.seekPreRoll, 80_000_000)
        entry.write(.audio) { audio in
            audio.write(.samplingFrequency, EBML.fixed(48_000.0.bitPattern, byteCount: 8))
            audio.write(.channels, 2)
        }
    }
}
