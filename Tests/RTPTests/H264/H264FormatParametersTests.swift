import Testing

@testable import RTCShareRTP

extension FormatParameters {
    /// The parameters in the value of an `a=fmtp` line.
    init(text: String) {
        self.init(
            text.split(separator: ";").map { item in
                let parts = item.split(separator: "=", maxSplits: 1).map { $0.trimming(" ") }
                return (parts[0], parts.count > 1 ? parts[1] : nil)
            })
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> String {
        String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
    }
}

@Suite("Parameters of video formats")
struct VideoFormatParametersTests {
    private static let h264 = H264FormatParameters(packetizationMode: 1)

    @Test("An offer of H.264 is constrained baseline at level 3.1 in its mode")
    func offered() {
        let (format, singleUnits) = (H264PayloadFormat.h264, H264PayloadFormat.h264SingleUnits)
        #expect(
            format.parameters.offered == "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f")
        #expect(
            singleUnits.parameters.offered == "level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f")
        #expect(VP8PayloadFormat.vp8.parameters.offered == nil)
    }

    @Test(
        "H.264 is the same configuration in the same mode and profile, whatever the order, spaces and case (8.2.2)",
        arguments: [
            ("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", true),
            ("profile-level-id=42E01F; Packetization-Mode=1 ;level-asymmetry-allowed=1", true),
            ("packetization-mode=1", true),
            ("packetization-mode=1;profile-level-id=42c028", true),
            ("packetization-mode=1;profile-level-id=424033", true),
            ("packetization-mode=1;profile-level-id=42f00b", true),
            ("packetization-mode=1;profile-level-id=4d801f", true),
            ("packetization-mode=1;profile-level-id=4de01f", true),
            ("packetization-mode=1;profile-level-id=58c01f", true),
            ("packetization-mode=1;profile-level-id=58e01f", true),
            ("packetization-mode=1;profile-level-id=42001f", false),
            ("packetization-mode=1;profile-level-id=42801f", false),
            ("packetization-mode=1;profile-level-id=42e81f", false),
            ("packetization-mode=1;profile-level-id=4d001f", false),
            ("packetization-mode=1;profile-level-id=58801f", false),
            ("packetization-mode=1;profile-level-id=64001f", false),
            ("packetization-mode=1;profile-level-id=640c1f", false),
            ("packetization-mode=1;profile-level-id=f4001f", false),
            ("packetization-mode=1;profile-level-id=42e0", false),
            ("packetization-mode=1;profile-level-id=+2e01f", false),
            ("packetization-mode=1;profile-level-id=-00000", false),
            ("packetization-mode=1;profile-level-id", false),
            ("packetization-mode=0;profile-level-id=42e01f", false),
            ("packetization-mode=2;profile-level-id=42e01f", false),
            ("packetization-mode=x;profile-level-id=42e01f", false),
            ("profile-level-id=42e01f", false), ("", false),
        ])
    func sameConfiguration(text: String, isSame: Bool) {
        #expect(Self.h264.accepts(FormatParameters(text: text)) == isSame)
    }

    @Test(
        "A peer that only receives can name any profile whose decoders decode constrained baseline (H.264 A.2)",
        arguments: [
            ("42001f", true), ("42801f", true), ("4d001f", true), ("4d4028", true), ("58801f", true),
            ("640c1f", true), ("64001f", true), ("640034", true), ("f4001f", true), ("6e0028", true),
            ("42e01f", true), ("f4101f", false), ("6e1028", false), ("7a1028", false), ("2c001f", false),
            ("53001f", false), ("0000", false),
        ])
    func receivedProfile(profileLevel: String, isAccepted: Bool) {
        let parameters = FormatParameters(text: "packetization-mode=1;profile-level-id=" + profileLevel)
        #expect(Self.h264.accepts(parameters, .isReceiver) == isAccepted)
        #expect(Self.h264.accepts(parameters, .repeatsOffer) == (profileLevel == "42e01f"))
        #expect(!Self.h264.accepts(FormatParameters(text: "profile-level-id=" + profileLevel), .isReceiver))
    }

    @Test("An answer at the payload type of the offer has the mode of the offer, unless it names another")
    func repeatedMode() {
        #expect(Self.h264.accepts(FormatParameters(), .repeatsOffer))
        #expect(Self.h264.accepts(FormatParameters(text: "profile-level-id=42e01f"), .repeatsOffer))
        #expect(!Self.h264.accepts(FormatParameters(text: "packetization-mode=0"), .repeatsOffer))
        #expect(!Self.h264.accepts(FormatParameters(text: "packetization-mode"), .repeatsOffer))
    }

    @Test("Without a mode, a peer's H.264 has single NAL units")
    func defaultMode() {
        let parameters = H264FormatParameters(packetizationMode: 0)
        #expect(parameters.accepts(FormatParameters(text: "profile-level-id=42e01f")))
        #expect(parameters.accepts(FormatParameters()))
        #expect(!parameters.accepts(FormatParameters(text: "packetization-mode=1")))
    }

    @Test(
        "An answer has the profile of the offer, and its level unless the levels may differ",
        arguments: [
            ("level-asymmetry-allowed=1;profile-level-id=42e01f", "level-asymmetry-allowed=1;", "42e01f"),
            ("level-asymmetry-allowed=1;profile-level-id=4d8015", "level-asymmetry-allowed=1;", "4d801f"),
            ("level-asymmetry-allowed=1;profile-level-id=42f00b", "level-asymmetry-allowed=1;", "42e01f"),
            ("level-asymmetry-allowed=0;profile-level-id=42e028", "", "42e01f"),
            ("profile-level-id=42C015", "", "42c015"),
            ("level-asymmetry-allowed=1;profile-level-id=640c34", "level-asymmetry-allowed=1;", "640c1f"),
            ("profile-level-id=4d0015", "", "4d0015"),
            ("profile-level-id=42f00b", "", "42f00b"),
            ("", "", "42e01f"),
        ])
    func answers(offer: String, start: String, profileLevel: String) {
        let answer = Self.h264.answer(to: FormatParameters(text: offer + ";packetization-mode=1"))
        #expect(answer == start + "packetization-mode=1;profile-level-id=" + profileLevel)
    }

    @Test(
        "Levels below 3.1, max-fs and max-mbps are limits of size and rate",
        arguments: [
            ("profile-level-id=42e01f", nil, nil),
            ("profile-level-id=42e034", nil, nil),
            ("", nil, nil),
            ("profile-level-id=42e01e", 1620, 25),
            ("profile-level-id=42e00c", 396, 6000.0 / 396),
            ("profile-level-id=42e00b", 396, 3000.0 / 396),
            ("profile-level-id=42f00b", 99, 15),
            ("profile-level-id=42e000", 99, 15),
            ("profile-level-id=42e01e;max-fs=3600", 3600, 11.25),
            ("profile-level-id=42e01e;max-fs=3600;max-mbps=108000", 3600, 30),
            ("profile-level-id=42e01f;max-fs=8160", 8160, nil),
            ("profile-level-id=42e01f;max-fs=99", 3600, nil),
            ("profile-level-id=42e01f;max-fs=9000;max-mbps=270000", 9000, 30),
            ("profile-level-id=42e028;max-mbps=491520", nil, 60),
            ("profile-level-id=42e01f;max-fs=x;max-mbps=-1", nil, 30),
            ("profile-level-id=42e01f;max-fs=9223372036854775807", nil, nil),
        ] as [(String, Int?, Double?)])
    func limits(text: String, macroblocks: Int?, rate: Double?) {
        let limits = Self.h264.limits(in: FormatParameters(text: text))
        #expect(limits.maximumMacroblocks == macroblocks)
        #expect(limits.maximumFramesPerSecond == rate)
    }

    @Test(
        "AV1 is the same configuration in profile 0, whatever the level and the tier",
        arguments: [
            ("", true), ("level-idx=5;profile=0;tier=0", true), ("level-idx=31; tier=1", true), ("Profile=0;", true),
            ("profile=1; level-idx=8; tier=1;", false), ("profile=2", false), ("profile", false), ("profile=x", false),
        ])
    func av1(text: String, isSame: Bool) {
        let parameters = AV1FormatParameters()
        #expect(parameters.accepts(FormatParameters(text: text)) == isSame)
        #expect(parameters.answer(to: FormatParameters(text: text)) == "level-idx=13;profile=0;tier=0")
        #expect(parameters.limits(in: FormatParameters(text: text)) == PictureLimits())
    }
}
