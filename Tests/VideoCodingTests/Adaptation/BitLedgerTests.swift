import RTCShareMedia
import RTCShareWireFormat
import Testing

@testable import RTCShareVideoCoding

@Suite("BitLedger")
struct BitLedgerTests {
    private static let rate = DataRate.kilobitsPerSecond(3000)
    private static let share = 100_000.0
    private static let control = QuantizerControl(.vp8)

    /// A ledger at a rate, as of some time.
    private static func ledger(
        _ rate: DataRate = rate, burst: DataRate = .zero, at time: Duration = .zero
    ) -> BitLedger {
        var ledger = BitLedger()
        ledger.setRates(rate, burst: burst, now: time)
        return ledger
    }

    private static func allowance(_ ledger: BitLedger, for kind: QuantizerControl.Picture.Kind) -> Double {
        control.allowance(share: share, for: kind, from: ledger)
    }

    /// A change of so many milliseconds at the rate.
    private static func spend(_ milliseconds: Int, _ ledger: inout BitLedger) {
        ledger.spend(byteCount: milliseconds * 375, isChange: true)
    }

    @Test("A frame's bits are paid for before the next frame begins, and nothing is saved up")
    func pays() {
        var ledger = Self.ledger(.kilobitsPerSecond(100))
        #expect(ledger.readyAt <= .seconds(5))
        ledger.pass(to: .seconds(5))
        ledger.spend(byteCount: 12_500, isChange: true)
        #expect(ledger.readyAt == .seconds(5) + .milliseconds(900))
        #expect(ledger.readyForSmallChangeAt == .seconds(5))
        // Half as many bits a second take twice the time.
        ledger.setRates(.kilobitsPerSecond(50), burst: .zero, now: .seconds(5))
        #expect(ledger.readyAt == .seconds(5) + .milliseconds(1900))
        // After a collapse what is owed is not paid for ever.
        ledger.setRates(.kilobitsPerSecond(1), burst: .zero, now: .seconds(5))
        #expect(ledger.readyAt == .seconds(15) - .milliseconds(100))
        ledger.setRates(.zero, burst: .zero, now: .seconds(6))
        #expect(ledger.readyAt <= .seconds(6))
        // In a pause the route carries what is owed.
        ledger.pass(to: .seconds(7))
        ledger.setRates(.kilobitsPerSecond(10), burst: .zero, now: .seconds(8))
        #expect(ledger.readyAt <= .seconds(8))
    }

    @Test("No debt is left once the ready time has passed, however large it was")
    func waits() {
        var ledger = Self.ledger(.kilobitsPerSecond(300))
        for index in 1...200 {
            ledger.spend(byteCount: 4001 + index * 37, isChange: false)
            ledger.pass(to: ledger.readyAt - .milliseconds(1))
            #expect(ledger.isInDebt)
            ledger.pass(to: ledger.readyAt)
            #expect(!ledger.isInDebt)
        }
    }

    @Test("Small changes are not delayed by one large frame while they stay within half of the bitrate")
    func loan() {
        var ledger = Self.ledger()
        Self.spend(400, &ledger)
        #expect(ledger.isInDebt && ledger.readyAt == .milliseconds(300))
        for index in 1...20 {
            let now = Duration.seconds(index) / 30
            #expect(ledger.readyForChangeAt < now)
            ledger.pass(to: now)
            ledger.spend(byteCount: Int(Self.share * 0.49) / 8, isChange: true)
        }
        #expect(!ledger.isInDebt)
        // What takes its whole share leaves nothing for the debt.
        ledger = Self.ledger()
        Self.spend(400, &ledger)
        for index in 1...3 {
            ledger.pass(to: .seconds(index) / 30)
            ledger.spend(byteCount: Int(Self.share) / 8, isChange: true)
        }
        #expect(ledger.readyForChangeAt > .milliseconds(150))
        // A second large picture is not lent anything before the first is paid.
        ledger = Self.ledger()
        Self.spend(400, &ledger)
        Self.spend(400, &ledger)
        #expect(ledger.readyForChangeAt == ledger.readyAt)
    }

    @Test("A page that the path carries at once does not delay the changes after it")
    func page() {
        for (burst, isLent) in [(DataRate.zero, false), (.kilobitsPerSecond(30_000), true)] {
            var ledger = Self.ledger(burst: burst)
            Self.spend(800, &ledger)
            #expect(ledger.isInDebt)
            #expect((ledger.readyForChangeAt <= .milliseconds(1)) == isLent)
        }
    }

    @Test("Consecutive frames get a frame's share of bits each")
    func steady() {
        var ledger = Self.ledger()
        for index in 0..<90 {
            ledger.pass(to: .seconds(index) / 30)
            let bits = Self.allowance(ledger, for: .following)
            if index > 0 { #expect(abs(bits - Self.share) < Self.share * 0.01) }
            ledger.spend(byteCount: index == 0 ? 0 : Int(bits) / 8, isChange: true)
        }
    }

    @Test("A change after a rest gets 1/4 s of bits, and 1/2 s when they can be sent at once")
    func credit() {
        for (burst, expected) in [(0.0, 0.25), (2, 0.25), (8, 0.48), (40, 0.5)] {
            var ledger = Self.ledger(burst: Self.rate * burst)
            ledger.pass(to: .seconds(60))
            let rate = ledger.bits(in: .seconds(1))
            #expect(abs(Self.allowance(ledger, for: .page) / rate - expected) < 0.001)
            // A film goes on as it will have to.
            #expect(abs(Self.allowance(ledger, for: .following) / rate - 0.25) < 0.001)
        }
    }

    @Test("Time that pays for debts earns no bits")
    func held() {
        var ledger = Self.ledger()
        Self.spend(200, &ledger)
        ledger.pass(to: .milliseconds(233))
        #expect(Self.allowance(ledger, for: .page) <= Self.share)
        // A rest of the same length after less does give some.
        ledger = Self.ledger()
        Self.spend(50, &ledger)
        ledger.pass(to: .milliseconds(233))
        #expect(Self.allowance(ledger, for: .page) > Self.share * 1.5)
        // Nor do two pages in a row take what was there once.
        ledger = Self.ledger()
        ledger.pass(to: .seconds(60))
        Self.spend(250, &ledger)
        ledger.pass(to: .seconds(60) + .milliseconds(233))
        #expect(Self.allowance(ledger, for: .page) < Self.share * 2.6)
    }

    @Test("An excess is saved from later frames, never from the whole of a frame's share")
    func debt() {
        var ledger = Self.ledger()
        Self.spend(350, &ledger)
        ledger.pass(to: .milliseconds(33))
        let bits = Self.allowance(ledger, for: .following)
        #expect(bits < Self.share * 0.5 && bits >= Self.share * 0.3)
        // Once it is paid for, that is over.
        ledger.pass(to: .milliseconds(600))
        #expect(Self.allowance(ledger, for: .following) >= Self.share)
    }

    @Test("Sharpening a static frame adds to the debt and keeps the credit")
    func sharpening() {
        var ledger = Self.ledger()
        ledger.pass(to: .seconds(60))
        let before = Self.allowance(ledger, for: .page)
        ledger.spend(byteCount: 37_500, isChange: false)
        #expect(Self.allowance(ledger, for: .page) == before && ledger.debt == 300_000)
        Self.spend(10, &ledger)
        #expect(Self.allowance(ledger, for: .page) == before - 30_000 && ledger.debt == 330_000)
    }

    @Test("Scrolling text keeps to a bitrate that falls to an eighth within a second")
    func steps() throws {
        var share = try EncodedShare(
            .text, scroll: 1, bitsPerSecond: 2_500_000, size: PixelSize(width: 1280, height: 720))
        try share.run(to: 4, bitsPerSecond: 2_500_000)
        try share.run(to: 9, bitsPerSecond: 300_000)
        try share.run(to: 13, bitsPerSecond: 1_000_000)
        let narrow = share.mostBits(from: .seconds(4), to: .seconds(9), in: .seconds(1), of: 300_000)
        #expect(narrow < 1.2, "\(narrow)")
        let wide = share.mostBits(from: .seconds(9), to: .seconds(13), in: .seconds(2), of: 1_000_000)
        #expect(wide < 1.2, "\(wide)")
    }
}
