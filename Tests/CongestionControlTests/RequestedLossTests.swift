import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

@Suite struct RequestedLossTests {
    private func time(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64((seconds * 1e9).rounded())) }

    /// A report of a stream that sends 10 kB per second.
    @discardableResult
    private func report(
        _ highest: UInt16, packets: Int = 100, fractionLost: Double = 0.5, to loss: inout RequestedLoss,
        at seconds: Double
    ) -> LossSample {
        let report = LossReport(
            fractionLost: fractionLost, packetsLost: 0, extendedHighestSequenceNumber: 0x3_0000 | UInt32(highest),
            jitter: .zero, roundTripTime: nil)
        return loss.receive(report, packets: packets, bytesSent: UInt64(seconds * 10_000), now: time(seconds))
    }

    private func ask(
        _ numbers: [UInt16], of loss: inout RequestedLoss, at seconds: Double, newestSent: UInt16 = 2000
    ) -> LossSample? {
        loss.receive(numbers.map { SequenceNumber($0) }, newestSent: SequenceNumber(newestSent), now: time(seconds))
    }

    private func asked(_ lost: Int, of packets: Int) -> LossSample {
        LossSample(fractionLost: Double(lost) / Double(packets), packets: packets)
    }

    /// A stream of which a report covered 1100 packets after 3 s, though one was requested before.
    private func rarelyReported() -> RequestedLoss {
        var loss = RequestedLoss()
        report(1000, to: &loss, at: 0)
        _ = ask([1001], of: &loss, at: 1)
        report(1100, to: &loss, at: 3)
        return loss
    }

    @Test("Requests give a sample each second, if no report follows within 1.75 s")
    func lateReport() {
        var loss = RequestedLoss()
        #expect(report(1000, to: &loss, at: 0) == LossSample(fractionLost: 0.5, packets: 100))
        #expect(ask([1010], of: &loss, at: 10) == nil)
        #expect(ask([1020], of: &loss, at: 11) == nil, "the next report can show it")
        #expect(ask([1030], of: &loss, at: 11.9) == nil)
        #expect(ask([1040, 1050], of: &loss, at: 12.9) == asked(3, of: 30))
        // After a pause the next report can be in time again.
        #expect(ask([1060], of: &loss, at: 15) == nil)
        #expect(ask([1070], of: &loss, at: 16) == nil)
    }

    @Test("While reports are rare, a hundred packets give a sample, and the second one has the rate of its packets")
    func rareReports() {
        var loss = rarelyReported()
        #expect(ask([1195], of: &loss, at: 3.1) == nil)
        #expect(ask([1200], of: &loss, at: 3.2) == asked(2, of: 100))
        #expect(ask([1290, 1295, 1300], of: &loss, at: 3.3) == asked(3, of: 100))
        #expect(report(1310, to: &loss, at: 6).sentRate == .kilobitsPerSecond(80))
        #expect(report(1320, to: &loss, at: 7).sentRate == nil)
        #expect(ask([1400, 1402, 1430], of: &loss, at: 7.1) == nil, "a report was in time")
    }

    @Test("Reports are not rare if nothing was requested between them")
    func quietStream() {
        var loss = RequestedLoss()
        report(1000, to: &loss, at: 0)
        report(1100, to: &loss, at: 3)
        #expect(ask([1190, 1195, 1200], of: &loss, at: 3.1) == nil)
    }

    @Test("If another key frame is requested soon after each of three, none of them was complete")
    func repeatedKeyFrames() {
        var loss = rarelyReported()
        func askForKeyFrames(_ sent: [UInt64], every interval: Double, from begin: Double) {
            for (index, sent) in sent.enumerated() {
                loss.receiveKeyFrameRequest(sent: sent, now: time(begin + interval * Double(index)))
            }
        }
        #expect(ask([1105], of: &loss, at: 3.1) == nil)
        askForKeyFrames([1, 2, 3, 3], every: 0.3, from: 3.1)
        #expect(ask([1140], of: &loss, at: 4.1) == asked(2, of: 40))
        #expect(ask([1145], of: &loss, at: 4.2) == nil)
        askForKeyFrames([4, 5, 6], every: 0.8, from: 4.2)
        #expect(ask([1180], of: &loss, at: 5.9) == asked(2, of: 40))
        #expect(ask([1185], of: &loss, at: 6) == nil)
        askForKeyFrames([7, 8, 9], every: 0.3, from: 6.4)
        #expect(ask([1220], of: &loss, at: 7.1) == asked(40, of: 40))
        #expect(ask([1320, 1321, 1322], of: &loss, at: 7.2) == asked(3, of: 102), "these are new ones")
    }

    @Test("Packets that are skipped do not count, and a sample begins after them")
    func skippedPackets() {
        var loss = rarelyReported()
        #expect(ask([1105], of: &loss, at: 3.1) == nil)
        loss.skip(to: SequenceNumber(1150))
        #expect(ask([1140], of: &loss, at: 3.2) == nil)
        #expect(ask([1200], of: &loss, at: 3.3) == nil)
        #expect(ask([1240, 1250], of: &loss, at: 3.4) == asked(3, of: 100))
    }

    @Test("Requests for packets that were only late do not count, until a report shows that others were lost")
    func latePackets() {
        var loss = rarelyReported()
        #expect(ask(Array(1101...1110), of: &loss, at: 3.1) == nil)
        report(1200, fractionLost: 0.04, to: &loss, at: 6)
        #expect(ask(Array(1201...1209), of: &loss, at: 6.1) == nil)
        #expect(ask([1310], of: &loss, at: 6.2) == nil, "most of them had arrived")
        report(1400, packets: 200, fractionLost: 0.025, to: &loss, at: 9)
        #expect(ask([1450, 1460, 1500], of: &loss, at: 9.1) == asked(3, of: 100))
    }

    @Test("Each packet counts once, across a wrap and after half of all numbers without a request")
    func numbers() {
        var loss = RequestedLoss()
        #expect(ask([65_530], of: &loss, at: 0, newestSent: 65_535) == nil, "no packet before it is known")
        #expect(ask([65_530], of: &loss, at: 1, newestSent: 65_535) == nil)
        #expect(ask([65_528, 65_530, 4], of: &loss, at: 2, newestSent: 20) == nil)
        #expect(ask([5000], of: &loss, at: 3, newestSent: 20) == nil, "it was never sent")
        #expect(ask([14], of: &loss, at: 3.5, newestSent: 20) == nil)
        #expect(ask([24], of: &loss, at: 4, newestSent: 30) == nil)
        #expect(ask([34], of: &loss, at: 5, newestSent: 40) == asked(2, of: 20))
        #expect(ask([40_000], of: &loss, at: 6, newestSent: 40_010) == nil, "the first known one again")
        #expect(ask([40_010], of: &loss, at: 7, newestSent: 40_020) == nil)
        #expect(ask([40_020], of: &loss, at: 8, newestSent: 40_020) == asked(2, of: 20))
    }
}
