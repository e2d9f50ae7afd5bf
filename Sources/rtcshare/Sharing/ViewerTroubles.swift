internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The troubles of each viewer's connection, from facts that the sender has: it can't see a viewer's frozen video, but only
/// that the viewer keeps asking for a new key frame.
///
/// A trouble appears after its fact was true for some seconds, and disappears after it was false for some. Otherwise words
/// would change all the time, on a page that can be on the shared screen.
struct ViewerTroubles {
    enum Trouble: String, Codable, Sendable, CaseIterable {
        /// The viewer does not respond.
        case silent
        /// The viewer keeps asking for a key frame.
        case stuck
        /// Packets are lost.
        case lossy
        /// The connection is much slower than the video may be.
        case slow
        /// The round trip is long.
        case late
    }

    /// The worst trouble of a viewer; nil without one.
    struct Condition: Hashable {
        var trouble: Trouble?
        /// The figure of the trouble: seconds of requests, the fraction of lost packets, the target bitrate in kbit/s, or the
        /// round trip in seconds.
        var figure: Double?
    }

    fileprivate struct Record {
        var requests: UInt64
        /// The bytes that were sent until a time.
        var sent: (bytes: UInt64, at: Instant)
        /// The first and the last request of a series.
        var series: ClosedRange<Instant>?
        /// The times since which facts are true.
        var beginnings: [Trouble: Instant] = [:]
        /// The times at which facts were true last, and their figures then.
        var ends: [Trouble: (time: Instant, figure: Double)] = [:]
        var condition = Condition()
    }

    private var records: [Int: Record] = [:]

    fileprivate static let lossy = 0.03
    fileprivate static let late = Duration.milliseconds(400)
    /// The number of times by which the target bitrate is below the maximum, and the part of it that is sent: a screen that
    /// does not change shows nothing of the connection.
    fileprivate static let (slow, usedShare) = (3, 0.5)
    /// The maximum interval of requests in one series. A request that is answered has no second one.
    fileprivate static let seriesGap = Duration.seconds(3)
    /// The minimum duration of a series. A new viewer can ask twice.
    fileprivate static let seriesTime = Duration.seconds(2)
    fileprivate static let endTime = Duration.seconds(5)

    /// Returns the time after which a fact is a trouble. The target bitrate begins low, and a request that is repeated is
    /// one already.
    fileprivate static func beginTime(_ trouble: Trouble) -> Duration {
        .seconds(trouble == .slow ? 10 : trouble == .stuck ? 0 : 2)
    }

    /// The condition of a viewer.
    subscript(viewer: Int) -> Condition? { records[viewer]?.condition }

    /// Updates the conditions, once a second. `maxBitrate` is the maximum of the content's video.
    mutating func update(with summaries: [Int: SendingSummary], maxBitrate: DataRate) {
        records = records.filter { summaries[$0.key] != nil }
        for (viewer, summary) in summaries {
            let requests = (summary.video?.pliCount ?? 0) &+ (summary.video?.firCount ?? 0)
            var record = records[viewer] ?? Record(requests: requests, sent: (summary.bytesSent, summary.time))
            record.update(with: summary, requests: requests, maxBitrate: maxBitrate)
            records[viewer] = record
        }
    }
}

extension ViewerTroubles.Record {
    fileprivate mutating func update(with summary: SendingSummary, requests count: UInt64, maxBitrate: DataRate) {
        let now = summary.time
        if count != requests { series = min(series?.lowerBound ?? now, now)...now }
        requests = count
        if let last = series?.upperBound, now - last > ViewerTroubles.seriesGap { series = nil }
        let target = summary.targetBitrate.map { Double($0.bitsPerSecond) } ?? .infinity
        // During a pause, nothing is sent.
        let isSlow = target > 0 && target < Double(maxBitrate.bitsPerSecond) / Double(ViewerTroubles.slow)
        let (loss, roundTrip) = (summary.fractionLost ?? 0, summary.roundTripTime ?? .zero)
        let requesting = series.map { $0.upperBound - $0.lowerBound } ?? .zero
        note(.stuck, requesting >= ViewerTroubles.seriesTime, requesting / .seconds(1), now)
        note(.lossy, loss >= ViewerTroubles.lossy, loss, now)
        note(.slow, isSlow && sentRate(summary) >= target * ViewerTroubles.usedShare, target / 1000, now)
        note(.late, roundTrip >= ViewerTroubles.late, roundTrip / .seconds(1), now)
        let trouble = ViewerTroubles.Trouble.allCases.first { isPresent($0) }
        condition = ViewerTroubles.Condition(trouble: trouble, figure: trouble.flatMap { ends[$0]?.figure })
    }

    /// Returns the bitrate since the last summary.
    private mutating func sentRate(_ summary: SendingSummary) -> Double {
        defer { sent = (summary.bytesSent, summary.time) }
        guard summary.time > sent.at, summary.bytesSent >= sent.bytes else { return 0 }
        return Double(summary.bytesSent - sent.bytes) * 8 / ((summary.time - sent.at) / .seconds(1))
    }

    private mutating func note(_ trouble: ViewerTroubles.Trouble, _ isTrue: Bool, _ figure: Double, _ now: Instant) {
        if isTrue {
            beginnings[trouble] = beginnings[trouble] ?? now
            ends[trouble] = (now, figure)
        } else if let end = ends[trouble], now - end.time >= ViewerTroubles.endTime {
            beginnings[trouble] = nil
            ends[trouble] = nil
        }
    }

    private func isPresent(_ trouble: ViewerTroubles.Trouble) -> Bool {
        guard let beginning = beginnings[trouble], let end = ends[trouble] else { return false }
        return end.time - beginning >= ViewerTroubles.beginTime(trouble)
    }
}
