import RTCShareWireFormat
import Testing

@testable import rtcshare

/// The layers of a published video.
@Suite struct LayerOptionTests {
    @Test("An automatic number of layers depends on the bitrate")
    func automaticCount() {
        let counts = [300, 599, 600, 1499, 1500, 5000].map { LayerCount.automatic.count(for: .kilobitsPerSecond($0)) }
        #expect(counts == [1, 1, 2, 2, 3, 3])
        #expect(LayerCount.exactly(2).count(for: .kilobitsPerSecond(100)) == 2)
    }

    @Test("Layers are from one to three, or automatic, and need a server")
    func parsing() throws {
        func parse(_ layers: String) throws {
            let words = ["send", "--whip", "http://a/whip", "--layers", layers]
            _ = try RTCShareCommand.parsed(words, environment: [:])
        }
        for layers in ["1", "2", "3", "auto"] { try parse(layers) }
        for layers in ["0", "4", "many", ""] { #expect(throws: (any Error).self) { try parse(layers) } }
        let failure = #expect(throws: CommandFailure.self) {
            _ = try RTCShareCommand.parsed(["serve", "--source", "test", "--layers", "3"], environment: [:])
        }
        #expect(failure?.lines(after: "").first?.contains("--layers needs --whip or --janus") == true)
    }
}
