internal import NIOCore
internal import RTCSharePeerConnection
package import RTCShareRTP

/// One picture for a whole room.
extension Connection {
    /// Sends an encoded picture to any number of peers, to each as the media of the index beside it, from any thread: all
    /// connections of an event loop are visited in one go, and what they send at once leaves in one batch.
    package static func send(_ frame: PacketizedFrame, to destinations: [(connection: Connection, media: Int)]) {
        var rest = destinations
        while let eventLoop = rest.first?.connection.eventLoop {
            // Mostly one event loop has them all: then no list is made anew, which touches every connection.
            let isWhole = rest.allSatisfy { $0.connection.eventLoop === eventLoop }
            let here = isWhole ? rest : rest.filter { $0.connection.eventLoop === eventLoop }
            rest = isWhole ? [] : rest.filter { $0.connection.eventLoop !== eventLoop }
            eventLoop.execute {
                ConnectionLoop.of(eventLoop).gather {
                    for (connection, media) in here {
                        connection.assumeIsolated {
                            let now = MonotonicClock.now
                            $0.peer.send(frame, media: media, now: now)
                            $0.drain(now: now)
                        }
                    }
                }
            }
        }
    }
}
