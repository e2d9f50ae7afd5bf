import RTCShareCapture
import RTCShareContentShare
import Foundation
import RTCShareMedia
import RTCShareNetworkRuntime
import RTCShareSDP

// Shares the test pattern: the offer goes to standard output, the answer is standard input, up to its end.
do {
    let session = try await AttendeeSession.offering(as: AttendeeID("example"))
    let offer = try await session.connection.makeOffer()
    FileHandle.standardOutput.write(Data(offer.description.utf8))

    let answer = FileHandle.standardInput.readDataToEndOfFile()
    let screen = try TestPatternSource()
    try await session.contentShare.start(source: screen)
    try await session.connection.accept(answer: SessionDescription.parse(utf8: [UInt8](answer)), to: offer)
    try screen.start()
    try await session.waitUntilEnd()
    screen.stop()
} catch {
    FileHandle.standardError.write(Data("ShareTestPattern: \(error)\n".utf8))
    exit(1)
}
