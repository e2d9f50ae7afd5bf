/// The rules for the parameters of H.264 in constrained baseline (RFC 6184 §8).
struct H264FormatParameters: VideoFormatParameters {
    /// `packetization-mode`: 0 for single NAL units, 1 for aggregates and fragments, too (RFC 6184 §6).
    let packetizationMode: Int

    /// Constrained baseline at level 3.1, which all WebRTC peers support (RFC 7742 §6.2).
    private static let own = H264ProfileLevel(profile: 0x42, constraints: 0xE0, level: 31)

    var offered: String? { text(Self.own, isAsymmetric: true) }

    private func text(_ profileLevel: H264ProfileLevel, isAsymmetric: Bool) -> String {
        (isAsymmetric ? "level-asymmetry-allowed=1;" : "")
            + "packetization-mode=\(packetizationMode);profile-level-id=\(profileLevel)"
    }

    /// RFC 6184 §8.2.2: the mode and the profile are the configuration. A peer without `profile-level-id` has plain
    /// baseline according to §8.1, but deployed peers mean constrained baseline. Servers that only receive often name
    /// the one profile that they know, and decode constrained baseline as a part of it.
    func accepts(_ theirs: FormatParameters, _ leniency: FormatLeniency) -> Bool {
        if theirs["packetization-mode"] != nil {
            guard theirs.number("packetization-mode") == packetizationMode else { return false }
        } else if packetizationMode != 0, !leniency.contains(.repeatsOffer) {
            return false
        }
        guard let text = theirs["profile-level-id"] else { return true }
        guard let profile = H264ProfileLevel(text) else { return false }
        return profile.isConstrainedBaseline
            || leniency.contains(.isReceiver) && profile.includesConstrainedBaseline
    }

    /// Both levels can differ if both sides allow it. Otherwise the lower one is that of both (RFC 6184 §8.2.2).
    func answer(to theirs: FormatParameters) -> String? {
        let isAsymmetric = theirs["level-asymmetry-allowed"] == "1"
        guard let offer = theirs["profile-level-id"].flatMap({ H264ProfileLevel($0) }) else {
            return text(Self.own, isAsymmetric: isAsymmetric)
        }
        let keepsLevel = !isAsymmetric && offer.limits.macroblocks < Self.own.limits.macroblocks
        return text(keepsLevel ? offer : offer.at(level: Self.own.level), isAsymmetric: isAsymmetric)
    }

    /// Peers decode larger frames than those of the level 3.1 that most of them name. A lower level is a limit, and so
    /// are `max-fs` and `max-mbps`, which extend a level (RFC 6184 §8.1).
    func limits(in theirs: FormatParameters) -> PictureLimits {
        let level = (theirs["profile-level-id"].flatMap { H264ProfileLevel($0) } ?? Self.own).limits
        let (size, rate) = (theirs.number("max-fs"), theirs.number("max-mbps"))
        let isLow = level.macroblocks < Self.own.limits.macroblocks
        let macroblocks = max(level.macroblocks, size ?? 0)
        return PictureLimits(
            maximumMacroblocks: isLow || size != nil ? macroblocks : nil,
            maximumFramesPerSecond: isLow || rate != nil
                ? Double(max(level.rate, rate ?? 0)) / Double(macroblocks) : nil)
    }
}

/// The value of `profile-level-id` (RFC 6184 §8.1).
struct H264ProfileLevel: Hashable, CustomStringConvertible {
    /// The `profile_idc`.
    let profile: UInt8
    /// The constraint flags, `constraint_set0_flag` in the highest bit.
    let constraints: UInt8
    /// The `level_idc`: ten times the level.
    let level: UInt8

    init(profile: UInt8, constraints: UInt8, level: UInt8) {
        self.profile = profile
        self.constraints = constraints
        self.level = level
    }

    /// Parses six hexadecimal digits.
    init?(_ text: String) {
        guard text.utf8.count == 6, text.allSatisfy(\.isHexDigit), let value = UInt32(text, radix: 16) else {
            return nil
        }
        self.init(
            profile: UInt8(truncatingIfNeeded: value >> 16), constraints: UInt8(truncatingIfNeeded: value >> 8),
            level: UInt8(truncatingIfNeeded: value))
    }

    private static let lowerDigits = Array("0123456789abcdef")

    /// Six hexadecimal digits.
    var description: String {
        String(
            [profile, constraints, level].flatMap { byte in
                [Self.lowerDigits[Int(byte >> 4)], Self.lowerDigits[Int(byte & 15)]]
            })
    }

    /// Whether the profile is constrained baseline, in one of its three forms (RFC 6184, table 5).
    var isConstrainedBaseline: Bool {
        switch profile {
        case 0x42: constraints & 0x4F == 0x40
        case 0x4D: constraints & 0x8F == 0x80
        case 0x58: constraints & 0xCF == 0xC0
        default: false
        }
    }

    /// Whether a decoder of the profile decodes constrained baseline (H.264 §A.2): all profiles do, except those whose
    /// frames are all intra, and the scalable ones.
    var includesConstrainedBaseline: Bool {
        switch profile {
        case 0x42, 0x4D, 0x58, 0x64: true
        case 0x6E, 0x7A, 0xF4: constraints & 0x10 == 0
        default: false
        }
    }

    /// Whether the level is 1b: in these profiles level 11 with `constraint_set3_flag` (H.264 §A.3.1).
    private var isLevel1b: Bool { [0x42, 0x4D, 0x58].contains(profile) && level == 11 && constraints & 0x10 != 0 }

    /// Returns the profile at another level.
    func at(level: UInt8) -> H264ProfileLevel {
        H264ProfileLevel(profile: profile, constraints: constraints & 0xEF, level: level)
    }

    /// The maximum number of macroblocks in a frame and in a second (H.264, table A-1).
    var limits: (macroblocks: Int, rate: Int) {
        if isLevel1b { return (99, 1485) }
        return Self.levels.last { $0.level <= level }.map { ($0.macroblocks, $0.rate) } ?? (99, 1485)
    }

    private static let levels: [(level: UInt8, macroblocks: Int, rate: Int)] = [
        (10, 99, 1485), (11, 396, 3000), (12, 396, 6000), (13, 396, 11_880), (20, 396, 11_880), (21, 792, 19_800),
        (22, 1620, 20_250), (30, 1620, 40_500), (31, 3600, 108_000), (32, 5120, 216_000), (40, 8192, 245_760),
        (42, 8704, 522_240), (50, 22_080, 589_824), (51, 36_864, 983_040), (52, 36_864, 2_073_600),
    ]
}
