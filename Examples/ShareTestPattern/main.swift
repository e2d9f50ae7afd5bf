import Foundation
import RTCShare

// Shares the test pattern: the offer goes to standard output, the answer is standard input, up to its end.
do {
    let session = try await AttendeeSession.offering(as: AttendeeID("example"))
    let offer = try await session.connection.offer()
    FileHandle.standardOutput.write(Data(offer.utf8))

    let answer = FileHandle.standardInput.readDataToEndOfFile()
    try await session.contentShare.start(capturing: .testPattern())
    try await session.connection.accept(answer: String(decoding: answer, as: UTF8.self))
    try await session.waitUntilEnd()
} catch {
    FileHandle.standardError.write(Data("ShareTestPattern: \(error)\n".utf8))
    exit(1)
}
