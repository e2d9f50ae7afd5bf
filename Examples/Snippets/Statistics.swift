import Foundation
import RTCShare

// The code of the article Statistics.

func watch(_ session: AttendeeSession) async throws {
    // snippet:report
    let report = await session.stats()
    for object in report.objects where object.type == .outboundRTP {
        let frames = object.integer("framesSent") ?? 0
        let target = object.number("targetBitrate") ?? 0
        let limit = object.text("qualityLimitationReason") ?? "none"
        print("\(frames) frames sent, the target is \(target) bit/s, limited by: \(limit)")
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
