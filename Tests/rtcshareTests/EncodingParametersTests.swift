import RTCShareMedia
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import rtcshare

/// The settings of the encoder that result from options, or from a change over the control interface.
@Suite struct EncodingParametersTests {
    private static let defaults = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2500))

    @Test(
        "Each option of a share and of set reaches the encoder",
        arguments: [
            ("--max-bitrate 900", #"{"maxBitrate":900}"#), ("--max-framerate 12.5", #"{"maxFramerate":12.5}"#),
            ("--size 640x360", #"{"maxHeight":360,"maxWidth":640}"#), ("--hint text", #"{"hint":"text"}"#),
            ("--hint detail", #"{"hint":"detail"}"#), ("--hint motion", #"{"hint":"motion"}"#),
        ])
    func options(option: String, change: String) throws {
        var expected = Self.defaults
        switch option.split(separator: " ")[0] {
        case "--max-bitrate": expected.bitrate = .kilobitsPerSecond(900)
        case "--max-framerate": expected.framesPerSecond = 12.5
        case "--size": expected.maximumSize = PixelSize(width: 640, height: 360)
        default: expected.hint = ContentHint(rawValue: String(option.dropFirst("--hint ".count)))
        }
        let words = option.split(separator: " ").map(String.init)
        let serve = try #require(
            try RTCShareCommand.parsed(["serve"] + words, environment: [:]) as? ServeCommand)
        #expect(VideoEncoder.Settings(resolving: serve.sharing.parameters, over: Self.defaults) == expected)
        let set = try #require(try RTCShareCommand.parsed(["set"] + words, environment: [:]) as? SetCommand)
        let body = try ControlJSON.encode(ShareChange(.set(set.parameters)))
        #expect(String(decoding: body, as: UTF8.self) == change)
        guard case .set(let received, automatic: []) = try ControlJSON.decode(ShareChange.self, from: body).request
        else {
            Issue.record("\(change) is not a change of the parameters")
            return
        }
        #expect(received == set.parameters)
        // A parameter that is not in the request keeps its value.
        let started = try #require(try RTCShareCommand.parsed(["serve"], environment: [:]) as? ServeCommand)
        #expect(started.sharing.parameters.maxBitrate == nil)
        let changed = received.overriding(started.sharing.parameters)
        #expect(VideoEncoder.Settings(resolving: changed, over: Self.defaults) == expected)
    }

    @Test(
        "Null in a change makes a parameter automatic",
        arguments: [
            (ControlRequest.set(VideoEncodingParameters(), automatic: [.contentHint]), #"{"hint":null}"#),
            (
                .set(VideoEncodingParameters(contentHint: .text), automatic: [.maxBitrate]),
                #"{"hint":"text","maxBitrate":null}"#
            ),
        ])
    func automatic(request: ControlRequest, change: String) throws {
        #expect(String(decoding: try ControlJSON.encode(ShareChange(request)), as: UTF8.self) == change)
        #expect(try ControlJSON.decode(ShareChange.self, from: Array(change.utf8)).request == request)
    }

    @Test("The hint auto makes the hint automatic, like null")
    func automaticHint() throws {
        let automatic = ControlRequest.set(VideoEncodingParameters(), automatic: [.contentHint])
        let set = try #require(
            try RTCShareCommand.parsed(["set", "--hint", "auto"], environment: [:]) as? SetCommand)
        #expect(set.request == automatic)
        #expect(try ControlJSON.decode(ShareChange.self, from: Array(#"{"hint":"auto"}"#.utf8)).request == automatic)
    }

    @Test("A change of the bitrate does not enable partial updates that were disabled")
    func partialUpdates() throws {
        let serve = try #require(
            try RTCShareCommand.parsed(["serve", "--no-partial-updates"], environment: [:]) as? ServeCommand)
        let changed = VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(900))
            .overriding(serve.sharing.parameters)
        #expect(!VideoEncoder.Settings(resolving: changed, over: Self.defaults).usesPartialUpdates)
    }
}
