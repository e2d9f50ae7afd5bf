import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

@Suite("BitBudget")
struct BitBudgetTests {
    @Test("What was made is paid for before the next is begun, and nothing is saved up")
    func pays() {
        var budget = BitBudget(bitsPerSecond: 100_000)
        #expect(budget.readyAt <= .seconds(5))
        budget.spend(byteCount: 12_500, now: .seconds(5))
        #expect(budget.readyAt == .seconds(5) + .milliseconds(900))
        // Half as many bits a second take twice the time.
        budget.setRate(50_000, now: .seconds(5))
        #expect(budget.readyAt == .seconds(5) + .milliseconds(1900))
        // After a collapse what is owed is not paid for ever.
        budget.setRate(1000, now: .seconds(5))
        #expect(budget.readyAt == .seconds(15) - .milliseconds(100))
        budget.setRate(0, now: .seconds(6))
        #expect(budget.readyAt <= .seconds(6))
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
