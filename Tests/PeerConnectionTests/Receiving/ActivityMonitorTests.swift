@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import Testing

@Suite("Activity of received media")
struct ActivityMonitorTests {
    /// An event at a time in milliseconds; for a poll, also the activity that is expected to be reported.
    enum Step: Sendable {
        case packet(Int)
        case padding(Int)
        case goodbye(Int)
        case report(Int, count: UInt32)
        case poll(Int, isConnected: Bool = true, ReceiverActivity?)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]

        init(_ name: String, _ steps: [Step]) {
            testDescription = name
            self.steps = steps
        }
    }

    static let rows = [
        Row("nothing comes, with or without a path", [.poll(0, nil), .poll(60_000, isConnected: false, nil)]),
        Row("reports alone are no media", [.report(0, count: 1), .report(1000, count: 50), .poll(9000, nil)]),
        Row("the first packet, told once", [.packet(5), .poll(5, .flowing), .packet(25), .poll(25, nil)]),
        Row(
            "silence becomes a pause at its limit",
            [.packet(0), .poll(0, .flowing), .poll(2499, nil), .poll(2500, .paused), .poll(9000, nil)]),
        Row(
            "a sender that reports the same count pauses",
            [
                .packet(0), .poll(0, .flowing), .report(300, count: 7), .report(1300, count: 7),
                .report(2300, count: 7), .poll(2500, .paused), .report(3300, count: 7), .poll(3300, nil),
            ]),
        Row(
            "packets lost before a pause are no loss that goes on",
            [
                .report(0, count: 5), .packet(10), .poll(10, .flowing), .report(1000, count: 9),
                .report(2000, count: 9), .poll(2510, .paused),
            ]),
        Row(
            "a count that grows while nothing comes is loss",
            [
                .packet(0), .poll(0, .flowing), .report(500, count: 9), .report(1500, count: 59), .poll(1500, nil),
                .poll(2500, .lost),
            ]),
        Row(
            "a pause turns out to be loss with a later report",
            [
                .packet(0), .poll(0, .flowing), .report(2000, count: 9), .poll(2500, .paused),
                .report(7000, count: 10), .poll(7000, .lost), .report(12_000, count: 10), .poll(12_000, nil),
            ]),
        Row(
            "a packet ends a pause and a loss, and what was reported before it",
            [
                .packet(0), .poll(0, .flowing), .report(500, count: 9), .report(1500, count: 59),
                .poll(2500, .lost), .packet(3000), .poll(3000, .flowing), .report(3500, count: 70),
                .poll(5500, .paused), .packet(5600), .poll(5600, .flowing),
            ]),
        Row(
            "without a path it is loss, with one again a pause",
            [
                .packet(0), .poll(0, .flowing), .poll(2000, isConnected: false, nil),
                .poll(2500, isConnected: false, .lost), .poll(4000, .paused),
                .poll(4100, isConnected: false, .lost),
            ]),
        Row(
            "padding keeps the path alive and is no media",
            [
                .packet(0), .poll(0, .flowing), .report(500, count: 9), .padding(1000), .report(1500, count: 10),
                .padding(2000), .report(2400, count: 11), .poll(2500, .paused),
            ]),
        Row("padding alone is no beginning", [.padding(0), .poll(0, nil)]),
        Row(
            "a goodbye ends it in any state, until media comes",
            [
                .goodbye(0), .poll(0, .ended), .packet(10), .poll(10, .flowing), .goodbye(20), .poll(20, .ended),
                .padding(30), .poll(9000, isConnected: false, nil), .packet(9010), .poll(9010, .flowing),
                .poll(20_000, .paused), .goodbye(20_001), .poll(20_001, .ended),
            ]),
        Row(
            "the count grows over its wrap",
            [
                .packet(0), .poll(0, .flowing), .report(500, count: .max), .report(1500, count: 3),
                .poll(2500, .lost),
            ]),
        Row(
            "a sender that counts anew, or a late report, is no loss",
            [
                .packet(0), .poll(0, .flowing), .report(500, count: 900), .report(1500, count: 0),
                .report(1600, count: 0), .poll(2500, .paused),
            ]),
    ]

    @Test("The monitor tells pauses, loss and the end of a stream apart", arguments: rows)
    func table(_ row: Row) {
        var monitor = ActivityMonitor()
        for step in row.steps {
            switch step {
            case .packet(let time): monitor.receivePacket(isMedia: true, now: at(milliseconds: time))
            case .padding(let time): monitor.receivePacket(isMedia: false, now: at(milliseconds: time))
            case .goodbye: monitor.receiveGoodbye()
            case .report(_, let count): monitor.receive(report(at: .seconds(1), timestamp: 0, packetCount: count))
            case .poll(let time, let isConnected, let expected):
                #expect(monitor.poll(now: at(milliseconds: time), isConnected: isConnected) == expected, "at \(time)")
                if let deadline = monitor.nextDeadline { #expect(deadline > at(milliseconds: time)) }
            }
        }
    }

    @Test("The deadline is the time at which silence becomes a pause")
    func deadline() {
        var monitor = ActivityMonitor()
        #expect(monitor.nextDeadline == nil)
        for time in [0, 20] {
            monitor.receivePacket(isMedia: true, now: at(milliseconds: time))
            _ = monitor.poll(now: at(milliseconds: time), isConnected: true)
        }
        #expect(monitor.nextDeadline == at(milliseconds: 2520))
        #expect(monitor.poll(now: at(milliseconds: 2520), isConnected: true) == .paused)
        #expect(monitor.nextDeadline == nil)
    }

    @Test("A sender whose packet count restarts is measured from the new count", arguments: [false, true])
    func newCount(sendsMore: Bool) {
        var monitor = ActivityMonitor()
        monitor.receivePacket(isMedia: true, now: at(milliseconds: 0))
        _ = monitor.poll(now: at(milliseconds: 0), isConnected: true)
        for count in [100, 50] + (sendsMore ? [60] : []) as [UInt32] {
            monitor.receive(report(at: .seconds(1), timestamp: 0, packetCount: count))
        }
        #expect(monitor.poll(now: at(milliseconds: 3000), isConnected: true) == (sendsMore ? .lost : .paused))
    }

    @Test("A restarted stream is reported as waiting")
    func restart() {
        var monitor = ActivityMonitor()
        monitor.receivePacket(isMedia: true, now: at(milliseconds: 0))
        _ = monitor.poll(now: at(milliseconds: 0), isConnected: true)
        monitor.receiveGoodbye()
        monitor.restart()
        #expect(monitor.poll(now: at(milliseconds: 10), isConnected: true) == .waiting)
        #expect(monitor.poll(now: at(milliseconds: 9000), isConnected: true) == nil)
    }
}
