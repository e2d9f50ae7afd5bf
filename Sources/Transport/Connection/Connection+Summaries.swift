internal import NIOCore
package import RTCSharePeerConnection
internal import RTCShareWireFormat

extension Connection {
    /// Returns the counts of the media that these connections send. Each event loop is visited once.
    package nonisolated static func summaries(
        of connections: [Connection]
    ) async -> [ObjectIdentifier: SendingSummary] {
        var summaries: [ObjectIdentifier: SendingSummary] = [:]
        for group in Dictionary(grouping: connections, by: { ObjectIdentifier($0.eventLoop) }).values {
            summaries.merge(await group[0].summaries(onThisLoop: group)) { $1 }
        }
        return summaries
    }

    /// Returns the counts of the connections on this connection's event loop.
    private func summaries(onThisLoop connections: [Connection]) -> [ObjectIdentifier: SendingSummary] {
        let now = MonotonicClock.now
        return connections.reduce(into: [:]) { summaries, connection in
            summaries[ObjectIdentifier(connection)] = connection.assumeIsolated { $0.peer.sendingSummary(now: now) }
        }
    }
}
