import NIOCore
import RTCShareICE
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// Connections over real sockets.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    @Test(
        "Two connections connect, frames arrive whole and in order, and the peer notices a close",
        arguments: [Loopback.v4, Loopback.v6])
    func twoConnectionsMeet(address: IPAddress) async throws {
        let sender: Connection
        do {
            sender = try await Loopback.open(as: .offerer, at: address)
        } catch ConnectionError.addressUnusable where !address.isV4 {
            // A machine without IPv6.
            return
        }
        let viewer = try await Loopback.open(as: .answerer, at: address)
        let received = ReceivedLog(viewer)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: SessionDescription.parse(offer.description))
        try await sender.accept(answer: SessionDescription.parse(answer.description), to: offer)
        #expect(await viewer.remoteMedia.map(\.streamID) == ["alice#content"])

        for await signal in sender.signals {
            guard case .state(.connected) = signal else { continue }
            break
        }
        for number in UInt16(0)..<20 { sender.send(Loopback.frame(isKeyFrame: number == 0, number: number), media: 0) }
        var frames: [AssembledFrame] = []
        for await (frame, receiver) in received.frames {
            #expect(receiver == 0)
            frames.append(frame)
            if frames.count == 20 { break }
        }
        #expect(frames.map { $0.pictureID?.value } == (UInt16(0)..<20).map { $0 })
        #expect(frames.first?.isKeyFrame == true)
        #expect(frames.first?.data.count == 5010)

        await sender.drainQueue()
        let report = await sender.stats()
        #expect(report.outboundRTP[0]?.video?.framesSent == 20)
        #expect(report.transport?.packetsDroppedByStreams == 0)
        #expect(await sender.pairReports().count == 1)

        await sender.close()
        var isHeard = false
        for await signal in viewer.signals {
            guard case .state(.closed) = signal else { continue }
            isHeard = true
            break
        }
        #expect(isHeard)
        await viewer.close()
        var rest = viewer.signals.makeAsyncIterator()
        while await rest.next() != nil {}
    }

    @Test("A socket that the system closes is opened again, and the call continues")
    func closedSocket() async throws {
        let sender = try await Loopback.open(as: .offerer)
        let viewer = try await Loopback.open(as: .answerer)
        let received = ReceivedLog(viewer)
        let offer = try await sender.makeOffer()
        try await sender.accept(answer: try await viewer.answer(offer: offer), to: offer)
        for await signal in sender.signals {
            guard case .state(.connected) = signal else { continue }
            break
        }
        let address = try #require(await sender.localAddresses.first)
        try await sender.closeSocket(at: address)
        await waitUntil { await sender.localAddresses == [address] }
        sender.send(Loopback.frame(isKeyFrame: true, number: 1), media: 0)
        for await (frame, _) in received.frames {
            #expect(frame.isKeyFrame)
            break
        }
        await sender.close()
        await viewer.close()
    }

    @Test("A port in use is an error that names it, and it is free after its connection is closed")
    func takenPort() async throws {
        let first = try await Loopback.open(as: .offerer)
        let address = try #require(await first.localAddresses.first)
        await #expect(throws: ConnectionError.portTaken(address)) {
            _ = try await Loopback.open(as: .offerer, port: address.port)
        }
        await first.close()
        let second = try await Loopback.open(as: .offerer, port: address.port)
        #expect(await second.localAddresses == [address])
        await second.close()
    }

    @Test("A connection that is released without a close frees its port")
    func connectionLetGo() async throws {
        var connection: Connection? = try await Loopback.open(as: .offerer)
        let address = try #require(await connection?.localAddresses.first)
        weak let observed = connection
        connection = nil
        // Its sockets close on their event loop, which may take a few turns.
        var again: Connection?
        for _ in 0..<10_000 {
            again = try? await Loopback.open(as: .offerer, port: address.port)
            if again != nil { break }
            await Task.yield()
        }
        #expect(observed == nil)
        #expect(again != nil)
        await again?.close()
    }

    @Test("A missing address does not affect the others, and without another address it is an error that names it")
    func goneAddress() async throws {
        let gone = TransportAddress(ip: .v4(0xC000_0209), port: 0)
        let connection = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: Connection.Configuration(),
            endpoints: [gone, TransportAddress(ip: Loopback.v4, port: 0)])
        #expect(await connection.localAddresses.map(\.ip) == [Loopback.v4])
        await connection.close()
        let error = await #expect(throws: ConnectionError.self) {
            _ = try await Connection(
                as: .offerer, identity: Loopback.makeIdentity(sends: true),
                configuration: Connection.Configuration(), endpoints: [gone])
        }
        guard case .addressUnusable(gone, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A closed connection makes no offer, also if it was closed during gathering")
    func closedConnectionMakesNoOffer() async throws {
        let server = try await StunResponder(mapped: nil)
        let connection = try await Loopback.open(as: .offerer)
        await connection.gather(servers: [ICEServerAddress(kind: .stun, address: server.address)])
        let describing = Task {
            await connection.waitForServers(patience: .seconds(60))
            _ = try await connection.makeOffer()
        }
        await connection.close()
        await #expect(throws: PeerConnectionError.ended) { try await describing.value }
        try await server.close()
    }

    @Test("The address from a STUN server is a candidate of the offer")
    func reflexiveCandidate() async throws {
        let mapped = TransportAddress(ip: .v4(0xCB00_7105), port: 4242)
        let server = try await StunResponder(mapped: mapped)
        let connection = try await Loopback.open(as: .offerer)
        #expect(await !connection.hasReflexiveCandidate)
        await connection.gather(servers: [ICEServerAddress(kind: .stun, address: server.address)])
        await connection.waitForServers(patience: .seconds(20))
        #expect(await connection.hasReflexiveCandidate)
        let candidates = try await connection.makeOffer().media.first?.candidates() ?? []
        let reflexive = try #require(candidates.first { $0.kind.description == "srflx" })
        #expect(reflexive.host == .address(mapped.ip))
        #expect(reflexive.port == mapped.port)
        let base = try #require(await connection.localAddresses.first)
        #expect(reflexive.relatedHost == .address(base.ip))
        #expect(reflexive.relatedPort == base.port)
        await connection.close()
        try await server.close()
    }

    @Test("Gathering ends if a STUN server is silent")
    func silentSTUNServer() async throws {
        let server = try await StunResponder(mapped: nil)
        let connection = try await Loopback.open(as: .offerer)
        await connection.gather(servers: [ICEServerAddress(kind: .stun, address: server.address)])
        await connection.waitForServers(patience: .seconds(20))
        #expect(await !connection.hasReflexiveCandidate)
        await connection.close()
        try await server.close()
    }

    @Test("A close during the resolution of names ends the resolution")
    func closeWhileResolving() async throws {
        let sender = try await Loopback.open(as: .offerer)
        let viewer = try await Loopback.open(as: .answerer)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: offer).description
            .split(separator: "127.0.0.1", omittingEmptySubsequences: false)
            .joined(separator: "0a6d2e8c-0000-4000-8000-000000000000.local")
        let resolutions = try await sender.resolutions(after: SessionDescription.parse(answer), to: offer)
        #expect(resolutions.count == 1)
        await sender.close()
        await viewer.close()
        for resolution in resolutions {
            await resolution.value
            #expect(resolution.isCancelled)
        }
        #expect(await sender.resolutions.count == 0)
        // The stream of events has an end, and nothing went wrong before it.
        for await signal in sender.signals {
            if case .state(.failed) = signal { Issue.record("the connection failed") }
        }
    }

    @Test("The kernel's routes decide: loopback reaches only loopback")
    func loopbackRoute() {
        var probe = RouteProbe()
        func hasRoute(_ source: IPAddress, _ destination: TransportAddress) -> Bool {
            probe.hasRoute(from: source, to: destination, now: MonotonicClock.now)
        }
        let local = TransportAddress(ip: Loopback.v4, port: 9)
        #expect(hasRoute(Loopback.v4, local))
        #expect(!hasRoute(Loopback.v4, TransportAddress(ip: .v4(0x0808_0808), port: 9)))
        #expect(!hasRoute(Loopback.v4, TransportAddress(ip: Loopback.v6, port: 9)))
        #expect(!hasRoute(Loopback.v4, TransportAddress(ip: Loopback.v4, port: 0)))
        #expect(!hasRoute(.v4(0xC000_0209), local), "no interface has this address")
    }

    @Test("A missing route is queried again, and an existing one is not")
    func missingRoute() {
        var asked = 0
        var hasRoute = false
        var probe = RouteProbe { _, _ in
            asked += 1
            return hasRoute
        }
        let destination = TransportAddress(ip: .v4(0xC000_0201), port: 9)
        var now = Instant(nanoseconds: 0)
        func ask() -> Bool { probe.hasRoute(from: Loopback.v4, to: destination, now: now) }
        #expect(!ask())
        #expect(!ask())
        #expect(asked == 1)
        hasRoute = true
        now = now.advanced(by: .seconds(1))
        #expect(ask())
        hasRoute = false
        now = now.advanced(by: .seconds(60))
        #expect(ask())
        #expect(asked == 2)
        probe.forget()
        #expect(!ask())
    }

    @Test(
        "A connection that is closed before or while its sockets open has none", arguments: [true, false])
    func closedBeforeOpen(isBefore: Bool) async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        let connection = try Connection(
            unopenedAs: .answerer, identity: Loopback.makeIdentity(sends: false), configuration: configuration)
        if isBefore {
            await connection.close()
            await #expect(throws: PeerConnectionError.ended) { try await connection.open() }
        } else {
            async let opened: Void = connection.open()
            await connection.close()
            try? await opened
        }
        #expect(await connection.localAddresses.isEmpty)
        let offer = try await Loopback.open(as: .offerer)
        let text = try await offer.makeOffer()
        await #expect(throws: PeerConnectionError.ended) { try await connection.answer(offer: text) }
        await offer.close()
    }
}

extension Connection {
    /// Takes an answer, and returns the resolutions that it starts, before any of them ends.
    fileprivate func resolutions(
        after answer: SessionDescription, to offer: SessionDescription
    ) throws -> [Task<Void, Never>] {
        try accept(answer: answer, to: offer)
        return resolutions.tasks.values.map { $0 }
    }

    /// Ends a socket as the system does.
    fileprivate func closeSocket(at address: TransportAddress) async throws {
        try await sockets.datagrams[address]?.channel.close()
    }
}
