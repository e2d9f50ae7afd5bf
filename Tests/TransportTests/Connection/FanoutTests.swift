import NIOCore
import NIOPosix
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import Synchronization
import TestSupport
import Testing

@testable import RTCShareTransport

/// A room: many connections of one port, and one frame for all of them.
@Suite(.timeLimit(.minutes(2))) struct FanoutTests {
    private struct Seat {
        let sender: Connection
        let viewer: Connection
        let received: ReceivedLog
    }

    private static func seat(on port: SharedPort, maximumBitrate: DataRate? = nil) async throws -> Seat {
        var configuration = Connection.Configuration()
        configuration.sharedPort = port
        if let maximumBitrate { configuration.maxBitrate = maximumBitrate }
        let sender = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
        let viewer = try await Loopback.open(as: .answerer)
        let received = ReceivedLog(viewer)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: SessionDescription.parse(offer.description)).description
        try await sender.accept(answer: SessionDescription.parse(answer), to: offer)
        for await signal in sender.signals {
            if case .state(.connected) = signal { break }
        }
        return Seat(sender: sender, viewer: viewer, received: received)
    }

    /// The numbers of the next `count` frames that a viewer has whole.
    private static func frames(_ count: Int, of received: ReceivedLog) async -> [UInt16] {
        var numbers: [UInt16] = []
        for await (frame, _) in received.frames {
            numbers += frame.pictureID.map { [$0.value] } ?? []
            if numbers.count == count { break }
        }
        return numbers
    }

    @Test("Every viewer gets every frame, whichever other viewers have ended or are too slow")
    func everyFrame() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        var seats: [Seat] = []
        for index in 0..<50 {
            // The queue of one is full from the first frames on: its path is taken to carry next to nothing.
            let slow = DataRate.kilobitsPerSecond(20)
            seats.append(try await Self.seat(on: port, maximumBitrate: index == 7 ? slow : nil))
        }
        let dead = [3, 20, 41]
        for index in dead { await seats[index].viewer.vanish() }
        let count = 20
        for number in 1...UInt16(count) {
            Connection.send(Loopback.frame(isKeyFrame: true, number: number), to: seats.map(\.sender))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, seat) in seats.enumerated() where !dead.contains(index) {
                group.addTask {
                    let numbers = await Self.frames(count, of: seat.received)
                    #expect(numbers == Array(1...UInt16(count)), "viewer \(index)")
                }
            }
            try await group.waitForAll()
        }
        for index in dead {
            let report = await seats[index].sender.stats()
            #expect(!report.outboundRTP.isEmpty, "a dead viewer's connection is served as the others")
        }
        for seat in seats {
            await seat.sender.close()
            await seat.viewer.close()
        }
        await port.close()
    }

    @Test("A room is distributed over event loops, each with its own port")
    func spreadOverLoops() async throws {
        let ports = try await SharedPorts(addresses: [Loopback.v4], count: 2)
        var seats: [Seat] = []
        for _ in 0..<6 { seats.append(try await Self.seat(on: ports.next())) }
        let loops = seats.map { ObjectIdentifier($0.sender.eventLoop) }
        #expect(Set(loops).count == ports.ports.count)
        for loop in Set(loops) { #expect(loops.count { $0 == loop } == 6 / ports.ports.count) }
        for seat in seats {
            let (own, others) = (await seat.sender.localAddresses, seats.filter { $0.sender !== seat.sender })
            for other in others {
                let isSame = await other.sender.localAddresses == own
                #expect(isSame == (other.sender.eventLoop === seat.sender.eventLoop))
            }
        }
        for number in 1...UInt16(10) {
            Connection.send(
                Loopback.frame(isKeyFrame: true, number: number), to: seats.map(\.sender))
        }
        for seat in seats { #expect(await Self.frames(10, of: seat.received) == Array(1...10)) }
        let summaries = await Connection.summaries(of: seats.map(\.sender))
        for seat in seats {
            let summary = try #require(summaries[ObjectIdentifier(seat.sender)])
            // Probes can follow the summary.
            let sent = try #require(await seat.sender.stats().outboundRTP[0]?.sent)
            #expect((1...sent.bytesSent + sent.headerBytesSent).contains(summary.bytesSent))
            #expect(summary.video?.framesSent == 10 && summary.route == .direct && summary.codec == "VP8")
        }
        for port in ports.ports { #expect(await port.statistics.unknownFragments == 0) }
        for seat in seats {
            await seat.sender.close()
            await seat.viewer.close()
        }
        await ports.close()
    }

    @Test("A port is free at once after it is closed")
    func closedPort() async throws {
        var number: UInt16 = 0
        for _ in 0..<20 {
            let port = try await SharedPort(addresses: [Loopback.v4], port: number)
            number = try #require(await port.localAddresses.first).port
            await port.close()
        }
    }

    @Test("Deadlines expire in their order, and cancelled ones do not")
    func deadlineOrder() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        let eventLoop = port.eventLoop
        let (rung, ringing) = AsyncStream.makeStream(of: Int.self)
        try await eventLoop.submit {
            let loop = ConnectionLoop.of(eventLoop)
            let now = MonotonicClock.now
            loop.beginGathering()
            // In an order that is neither rising nor falling.
            for index in 0..<100 {
                let turn = index * 37 % 100
                let entry = ConnectionLoop.Entry { _ in ringing.yield(turn) }
                loop.schedule(entry, at: now.advanced(by: .seconds(3600)))
                loop.schedule(entry, at: now.advanced(by: .microseconds(turn * 50)))
                if turn % 3 == 0 { loop.schedule(entry, at: .distantFuture) }
            }
            loop.endGathering()
        }.get()
        var order: [Int] = []
        for await turn in rung {
            order.append(turn)
            if order.count == 66 { break }
        }
        #expect(order == (0..<100).filter { $0 % 3 != 0 })
        await port.close()
    }

    @Test("A suspension of the machine is told before the next deadline, once")
    func suspension() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        let (told, telling) = AsyncStream.makeStream(of: Duration?.self)
        try await eventLoop.submit {
            final class Machine { var suspendedTime = Duration.seconds(100) }
            let (loop, machine) = (ConnectionLoop.of(eventLoop), Machine())
            loop.suspendedTime = { machine.suspendedTime }
            machine.suspendedTime += .seconds(3600)
            let waiting = ConnectionLoop.Entry(resume: { suspension, _ in telling.yield(suspension) }, wake: { _ in })
            loop.schedule(waiting, at: MonotonicClock.now.advanced(by: .seconds(3600)))
            for turn in 1...2 {
                let due = ConnectionLoop.Entry { _ in telling.yield(nil) }
                loop.schedule(due, at: MonotonicClock.now.advanced(by: .milliseconds(turn)))
            }
        }.get()
        var heard: [Duration?] = []
        for await element in told {
            heard.append(element)
            if heard.count == 3 { break }
        }
        #expect(heard == [.seconds(3600), nil, nil])
        try await group.shutdownGracefully()
    }
}

extension Connection {
    /// Stops receiving and sending, like a machine that is unplugged.
    func vanish() {
        for address in localAddresses { sockets.remove(address) }
    }
}
