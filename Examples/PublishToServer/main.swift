import Foundation
import RTCShare
import RTCShareSignaling

// Publishes the test pattern at the WHIP endpoint that the first argument names, as streaming programs do with a server's
// URL and a stream key: for three seconds. The key is in STREAM_KEY, where there is one. What fails after it was published
// once is tried again.
do {
    guard CommandLine.arguments.count == 2 else {
        print("usage: PublishToServer https://server.example/live/whip")
        exit(64)
    }
    let room = try SharingRoom(owner: AttendeeID("example"))
    try await room.contentShare.start(capturing: .testPattern(), audio: ToneSource.tone())

    let key = try ProcessInfo.processInfo.environment["STREAM_KEY"].map { try AccessToken(presenting: $0) }
    let publication = Publication(of: room, at: try WHIPEndpoint(url: CommandLine.arguments[1], token: key))
    await publication.start()
    for await event in publication.events {
        if case .failed(let error, _, let pause) = event {
            print("PublishToServer: \(error)")
            guard pause != nil else { exit(1) }
        }
        guard case .published = event else { continue }
        print("published")
        try await Task.sleep(for: .seconds(3))
        break
    }
    await publication.stop()
    await room.end()
} catch {
    print("PublishToServer: \(error)")
    exit(1)
}
