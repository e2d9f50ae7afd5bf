import RTCShareICE
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareTransport

/// Addresses that come and go under a connection, with addresses of the loopback network as interfaces.
@Suite(.timeLimit(.minutes(1))) struct InterfaceTests {
    static let first = IPAddress.v4(0x7F00_0002)
    static let second = IPAddress.v4(0x7F00_0003)

    struct Call {
        let sender: Connection
        let viewer: Connection
        let received: ReceivedLog

        init(at addresses: [IPAddress], patience: Duration = .seconds(30)) async throws {
            var configuration = Connection.Configuration()
            configuration.addresses = addresses
            configuration.restartTimeout = patience
            sender = try await Connection(
                as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
            configuration.addresses = [Loopback.v4]
            viewer = try await Connection(
                as: .answerer, identity: Loopback.makeIdentity(sends: false), configuration: configuration)
            received = ReceivedLog(viewer)
            try await negotiate()
            await sender.hears { if case .state(.connected) = $0 { true } else { false } }
            await sender.waitUntilNominated()
        }

        func negotiate() async throws {
            let offer = try await sender.makeOffer()
            try await sender.accept(answer: try await viewer.answer(offer: offer), to: offer)
        }

        /// Sends key frames until the viewer has one.
        func expectFrames(from number: UInt16) async {
            let sending = Task {
                for number in number... {
                    sender.send(Loopback.frame(isKeyFrame: true, number: number), media: 0)
                    do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
                }
            }
            for await (frame, _) in received.frames {
                if let shown = frame.pictureID?.value, shown >= number { break }
            }
            sending.cancel()
            await sending.value
        }

        func close() async {
            await sender.close()
            await viewer.close()
        }
    }

    @Test("Another address replaces a removed one without signaling")
    func lostAddress() async throws {
        let call = try await Call(at: [Self.first, Self.second])
        await call.expectFrames(from: 1)
        let used = try #require(await call.sender.usedAddress)
        let other = used == Self.first ? Self.second : Self.first
        await call.sender.interfacesDidChange(present: [other])
        #expect(await call.sender.localAddresses.map(\.ip) == [other])
        await call.expectFrames(from: 1000)
        #expect(await call.sender.usedAddress == other)
        // It comes back, and the other one goes.
        await call.sender.interfacesDidChange(present: [used, other])
        await waitUntil { await call.sender.localAddresses.count >= 2 }
        await call.sender.interfacesDidChange(present: [used])
        await call.expectFrames(from: 2000)
        #expect(await call.sender.usedAddress == used)
        await call.close()
    }

    @Test("A new address and an ICE restart restore the call if no other address is left")
    func newAddress() async throws {
        let call = try await Call(at: [Self.first])
        await call.expectFrames(from: 1)
        await call.sender.interfacesDidChange(present: [])
        await call.sender.hears { if case .restartNeeded = $0 { true } else { false } }
        #expect(await call.sender.usedAddress == nil)
        #expect(await call.sender.localAddresses.isEmpty)
        await call.sender.interfacesDidChange(present: [Self.second], new: [Self.second])
        await waitUntil { await !call.sender.localAddresses.isEmpty }
        await call.sender.restartICE()
        try await call.negotiate()
        await call.sender.hears { if case .state(.connected) = $0 { true } else { false } }
        await call.expectFrames(from: 1000)
        #expect(await call.sender.usedAddress == Self.second)
        await call.close()
    }

    @Test("A removed address is not opened again by itself, and can be added")
    func removedAddress() async throws {
        let call = try await Call(at: [Self.first, Self.second])
        let socket = try #require(await call.sender.localAddresses.first)
        await call.sender.removeLocalAddress(socket.ip)
        #expect(await call.sender.localAddresses.count == 1)
        #expect(await call.sender.candidateAddresses == call.sender.localAddresses)
        let added = try await call.sender.addLocalAddress(socket.ip, port: socket.port)
        #expect(added == socket)
        #expect(try await call.sender.addLocalAddress(socket.ip) == socket, "it has a socket")
        #expect(await call.sender.localAddresses.count == 2)
        await call.close()
    }
}

extension Connection {
    /// The address that media goes out from.
    var usedAddress: IPAddress? { peer.ice.agent.selectedPair?.local.base.ip }

    var candidateAddresses: [TransportAddress] { peer.localAddresses }

    func waitUntilNominated() async {
        await waitUntil { peer.ice.agent.selectedPair?.isNominated == true }
    }

    nonisolated func hears(_ isMeant: (ConnectionSignal) -> Bool) async {
        for await signal in signals where isMeant(signal) { return }
    }
}
