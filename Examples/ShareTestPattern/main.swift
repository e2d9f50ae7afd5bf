import Capture
import Foundation
import NetworkRuntime
import PeerConnection
import SDP
import VideoCoding

// Shares the test pattern: the offer goes to standard output, the answer is standard input, up to its end.
do {
    let identity = try LocalIdentity(media: [.video(streamID: "example#content", isContent: true)])
    let connection = try await Connection(as: .offerer, identity: identity)
    let offer = try await connection.makeOffer()
    FileHandle.standardOutput.write(Data(offer.description.utf8))

    let answer = FileHandle.standardInput.readDataToEndOfFile()
    try await connection.accept(answer: SessionDescription.parse(utf8: [UInt8](answer)), to: offer)

    let pipeline = try VideoSendPipeline(
        source: SourceSpecification("test:1280x720@30").open(), settings: .init(bitsPerSecond: 2_500_000))
    try await pipeline.share(over: connection)
} catch {
    FileHandle.standardError.write(Data("ShareTestPattern: \(error)\n".utf8))
    exit(1)
}
