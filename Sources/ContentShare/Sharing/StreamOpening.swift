internal import RTCShareStreams
internal import RTCShareTransport

/// A closure that opens a stream over a connection, on the connection's event loop.
typealias StreamOpening = @Sendable (isolated Connection) throws(ContentShareError) -> Void

extension SendingStream {
    /// Returns a closure that opens this stream as one kind of an attendee's media, if the connection's descriptions
    /// have a media section for it. If `isActive` is false, the stream sends nothing at first.
    func opening(_ kind: SharedMedia, of attendee: AttendeeID, isActive: Bool) -> StreamOpening {
        { connection throws(ContentShareError) in
            let isContent = kind == .content || kind == .contentAudio
            do {
                guard let media = try SharedMedia.kinds([kind], of: attendee).first else { return }
                let limit = isContent ? ContentShareController.maximumShares : 1
                try self.open(media, atMost: limit, isActive: isActive, on: connection)
            } catch let error as SenderError {
                switch error {
                case .taken: throw .alreadyShared(by: isContent ? (try? attendee.content) ?? attendee : attendee)
                case .limit(let limit): throw .tooManyShares(limit: limit)
                case .closed: throw .ended
                }
            } catch {
                throw .configuration("\(error)")
            }
        }
    }
}
