import Foundation
import RTCShare

// The code of the article Statistics.

func watch(_ session: AttendeeSession) async throws {
    // snippet:report
    let report = await session.stats()
    for stream in report.outboundRTP.values where stream.kind == .video {
        let limit = stream.qualityLimitationReason ?? .none
        print("\(stream.framesSent ?? 0) frames sent, limited by: \(limit)")
        if let target = stream.targetBitrate { print("the target is \(target) bit/s") }
    }
    // end
}

func write(_ session: AttendeeSession, to file: FileHandle) async throws {
    // snippet:lines
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try await file.write(contentsOf: encoder.encode(session.stats()) + Data("\n".utf8))
    // end
}
