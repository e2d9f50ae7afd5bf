internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The presenter's own view of the content. It is a viewer of this machine that is not listed, and keeps no share running.
extension RunningShare {
    /// The maximum number of previews.
    private static let mostPreviews = 4
    private static let leastPreviewBitrate = DataRate.kilobitsPerSecond(100)

    /// Sends the content to a page that offers to receive it, and returns the answer.
    func openPreview(_ offer: String) async throws -> ControlAnswer {
        guard previews.count < Self.mostPreviews else {
            throw CommandFailure(
                .unavailable, "\(Self.mostPreviews) pages show a preview already", try: "close one of them")
        }
        var configuration = inviting.configuration
        configuration.iceServers = []
        configuration.maxBitrate = previewBitrate
        let (viewer, answer) = try await room.addViewer(
            offering: offer, configuration: configuration, membership: RoomMembership(subgroups: room.subgroups))
        // It may be over already.
        if room.session(of: viewer.id) != nil { previews[viewer.id] = viewer.session }
        updatePreviewMemberships()
        return .preview(viewer.id, answer: answer)
    }

    /// Ends a preview.
    func closePreview(_ id: Int) async throws {
        guard let session = previews.removeValue(forKey: id) else {
            throw CommandFailure(.inputMissing, "no preview \(id)")
        }
        await session.leave()
    }

    /// Makes the previews members of all subgroups that the presenter has joined, as the content can go to each of them.
    func updatePreviewMemberships() {
        let membership = RoomMembership(subgroups: room.subgroups)
        for id in previews.keys where room.membership(of: id) != membership {
            try? room.changeMembership(of: id, to: membership)
        }
    }

    /// Limits the previews, so that they are sent the encoding of the viewer with the best path. The path to this machine
    /// can carry more, for which another encoder would run, and the preview would not show what viewers see.
    func limitPreviews() {
        guard !previews.isEmpty else { return }
        let limit = previewBitrate
        for session in previews.values { session.connection.setMaximumBitrate(limit) }
    }

    /// More than the best viewer is sent, whose next target must not be limited by a preview, and less than twice as much.
    private var previewBitrate: DataRate {
        guard let best = rates.bestTarget else { return maximumBitrate }
        return min(max(best * 1.5, Self.leastPreviewBitrate), maximumBitrate)
    }
}
