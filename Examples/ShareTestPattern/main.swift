import Capture
import NetworkRuntime
import PeerConnection
import SDP
import VideoCoding

// Shares the test pattern with whoever answers: prints an offer, and reads the answer until the end of standard input.
let identity = try LocalIdentity(media: [.video(streamID: "example#content", isContent: true)])
let connection = try await Connection(as: .offerer, identity: identity)
let offer = try await connection.makeOffer()
print(offer, terminator: "")

var answer = ""
while let line = readLine(strippingNewline: false) { answer += line }
try await connection.accept(answer: SessionDescription.parse(answer), to: offer)

let pipeline = try VideoSendPipeline(
    source: SourceSpecification("test:1280x720@30").open(), settings: .init(bitsPerSecond: 2_500_000))
try await pipeline.share(over: connection)
