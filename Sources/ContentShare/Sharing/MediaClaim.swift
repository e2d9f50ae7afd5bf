internal import NetworkRuntime
internal import PeerConnection

/// One kind of media of an attendee on a connection, taken up once however many calls ask for it at the same time.
actor MediaClaim {
    private let kind: SharedMedia
    private let attendee: AttendeeID
    private let connection: Connection
    private var claim: Task<Result<Int, ContentShareError>, Never>?

    init(_ kind: SharedMedia, of attendee: AttendeeID, on connection: Connection) {
        self.kind = kind
        self.attendee = attendee
        self.connection = connection
    }

    /// The media's index. What could not be taken up, or will never be sent any more, is taken up anew by the next call.
    func media() async throws(ContentShareError) -> Int {
        // What an earlier call took up may have been rejected since.
        if let earlier = claim, case .success(let media) = await earlier.value, claim == earlier,
            await connection.hasEnded(media: media), claim == earlier
        {
            claim = nil
        }
        let claim =
            claim ?? Task { [kind, attendee, connection] in await Self.take(kind, of: attendee, on: connection) }
        self.claim = claim
        let result = await claim.value
        if case .failure = result, self.claim == claim { self.claim = nil }
        return try result.get()
    }

    private static func take(
        _ kind: SharedMedia, of attendee: AttendeeID, on connection: Connection
    ) async -> Result<Int, ContentShareError> {
        let isContent = kind == .content || kind == .contentAudio
        do {
            guard let media = try SharedMedia.kinds([kind], of: attendee).first else { return .failure(.ended) }
            let limit = isContent ? ContentShareController.maximumShares : 1
            return .success(try await connection.claimMedia(media, atMost: limit))
        } catch let error as MediaClaimError {
            switch error {
            case .taken: return .failure(.alreadyShared(by: isContent ? (try? attendee.content) ?? attendee : attendee))
            case .limit(let limit): return .failure(.tooManyShares(limit: limit))
            case .closed: return .failure(.ended)
            }
        } catch {
            return .failure(.configuration("\(error)"))
        }
    }
}
