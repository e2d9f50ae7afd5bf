import Foundation
import Media
import RTCShare
import SDP

// `App RTCSHARE SNAPSHOT`: shares a source of its own to `rtcshare view`, which keeps a picture of it.

/// Draws the stripes of a frame.
func draw(_ stripes: Stripes, frame: Int) -> PixelBuffer {
    let size = PixelSize(width: stripes.width, height: stripes.height)
    return PixelBuffer(size: size, format: .i420) { planes, strides in
        for row in 0..<size.height {
            let line = UnsafeMutableRawBufferPointer(rebasing: planes[0][row * strides[0]..<(row + 1) * strides[0]])
            line.initializeMemory(as: UInt8.self, repeating: stripes.brightness(row: row, frame: frame))
        }
        for plane in planes[1...] { plane.initializeMemory(as: UInt8.self, repeating: 128) }
    }
}

/// What the viewer prints until it has written a whole answer.
func view(_ offer: String, with rtcshare: String, snapshot: String) throws -> (Process, answer: String) {
    let viewer = Process()
    viewer.executableURL = URL(fileURLWithPath: rtcshare)
    viewer.arguments = ["view", "--offer", "-", "--bind", "127.0.0.1", "--snapshot", snapshot, "--duration", "3"]
    let (input, output) = (Pipe(), Pipe())
    (viewer.standardInput, viewer.standardOutput) = (input, output)
    try viewer.run()
    input.fileHandleForWriting.write(Data(offer.utf8))
    try input.fileHandleForWriting.close()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    return (viewer, String(decoding: answer, as: UTF8.self))
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(64) }
var configuration = Connection.Configuration()
configuration.addresses = [IPAddress("127.0.0.1")].compactMap { $0 }
configuration.maxBitrate = .kilobitsPerSecond(1500)
let session = try await AttendeeSession.offering(as: AttendeeID("outside"), configuration: configuration)
let events = await session.contentShare.events
Task {
    for await case .started in events { print("shared") }
}
let offer = try await session.connection.offer()
print("media offered: \(SDP.SessionDescription(text: offer).mediaCount)")

let stripes = Stripes()
let source = try PullVideoSource(
    size: PixelSize(width: stripes.width, height: stripes.height), framesPerSecond: 15, contentHint: .detail
) { [stripes] tick in draw(stripes, frame: tick.number) }
try await session.contentShare.start(
    capturing: source, parameters: VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(1000), maxFramerate: 15))
let (viewer, answer) = try view(offer, with: arguments[1], snapshot: arguments[2])
try await session.connection.accept(answer: answer)
while viewer.isRunning { try await Task.sleep(for: .milliseconds(66)) }
let sent = await session.stats().outboundRTP.values.first?.framesSent ?? 0
print("frames sent: \(sent > 0 ? "some" : "none"); the viewer ended with \(viewer.terminationStatus)")
await session.leave()
exit(viewer.terminationStatus)
