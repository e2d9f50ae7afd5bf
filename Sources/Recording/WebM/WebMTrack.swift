internal import RTCShareMedia

/// A track of a WebM file, as its header describes it.
struct WebMTrack: Sendable, Hashable {
    /// What its blocks are.
    enum Kind: Sendable, Hashable {
        /// VP8 frames; the first of them have this size, and key frames can change it. They are upright after so many quarter
        /// turns clockwise.
        case vp8(PixelSize, quarterTurns: Int = 0)
        /// Opus packets.
        case opus
    }

    /// Its blocks' number for it, from 1 on.
    let number: Int
    /// What its blocks are.
    let kind: Kind
    /// What a person knows it by.
    let name: String
    /// Whether it comes before the others of its kind, where a player shows one alone.
    let isMain: Bool

    /// A track.
    init(number: Int, kind: Kind, name: String, isMain: Bool) {
        self.number = number
        self.kind = kind
        self.name = name
        self.isMain = isMain
    }

    var isPicture: Bool {
        if case .vp8 = kind { true } else { false }
    }

    /// The place among the tracks of a file: players that show one of a kind take the first.
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
            // Nobody knows; without this it would be English.
            entry.write(.language, "und")
            entry.write(.name, name)
            switch kind {
            case .vp8(let size, let quarterTurns): Self.write(vp8Of: size, quarterTurns: quarterTurns, to: &entry)
            case .opus: Self.writeOpus(to: &entry)
            }
        }
    }

    private static func write(vp8Of size: PixelSize, quarterTurns: Int, to entry: inout EBML) {
        entry.write(.codecID, "V_VP8")
        entry.write(.video) { video in
            video.write(.pixelWidth, UInt64(size.width))
            video.write(.pixelHeight, UInt64(size.height))
            // VP8 is BT.601 whatever its size (RFC 6386 §9.2); players that are not told take what is large for BT.709.
            video.write(.colour) { colour in
                colour.write(.matrixCoefficients, 6)
                colour.write(.range, 1)
                colour.write(.transferCharacteristics, 6)
                colour.write(.primaries, 1)
            }
            guard let roll = roll(quarterTurns) else { return }
            video.write(.projection) { projection in
                // A flat picture.
                projection.write(.projectionType, 0)
                projection.write(.projectionPoseRoll, EBML.fixed(roll.bitPattern, byteCount: 8))
            }
        }
    }

    /// The turn in degrees, counterclockwise, from -180 to 180 (RFC 9559 §5.1.4.1.28.46); nil for none.
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
        // Blocks stand at the time of the sound that a decoder makes of them.
        entry.write(.codecDelay, 0)
        // RFC 7845 §4.6: from somewhere else a decoder needs 80 ms to be right.
        entry.write(.seekPreRoll, 80_000_000)
        entry.write(.audio) { audio in
            audio.write(.samplingFrequency, EBML.fixed(48_000.0.bitPattern, byteCount: 8))
            audio.write(.channels, 2)
        }
    }
}
