import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import rtcshare

@Suite(.timeLimit(.minutes(1)))
struct SendCommandTests {
    @Test("A share to a server closes its port if its room can't be created")
    func portWithoutRoom() async throws {
        let loopback = IPAddress.v4(0x7F00_0001)
        let free = try await SharedPort(addresses: [loopback])
        let number = try #require(await free.localAddresses.first).port
        await free.close()
        let words = [
            "send", "--whip", "http://127.0.0.1:1/whip", "--source", "test:320x180", "--bind", "127.0.0.1", "--port",
            "\(number)", "--destination", "a b",
        ]
        let command = try #require(try RTCShareCommand.parsed(words, environment: [:]) as? SendCommand)
        let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
        #expect(failure?.message.contains("a b") == true)
        let again = try await SharedPort(addresses: [loopback], port: number)
        await again.close()
    }
}
