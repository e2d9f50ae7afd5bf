internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport

/// The facts of each event that determine its effects.
extension RunningShare: ContentShareObserver {
    func contentShareSourceIsSilent(for time: Duration) { events.yield(.course(.sourceSilent(time))) }

    func contentShareSourceDidEnd(error: (any Error)?) {
        guard let source = room.contentShare.videoTrack?.source else { return }
        events.yield(.sourceEnded(source, error))
    }

    /// Updates the share for an occurrence, and returns the effects that remain.
    func effects(of occurrence: Share.Occurrence) async -> [ShareCourse.Effect] {
        guard let event = await event(for: occurrence) else { return [] }
        let situation = ShareCourse.Situation(
            isPaused: content.isPaused, lossDuringPause: content.lossDuringPause, captureEnd: captureEnd,
            isContentSent: output.isContentSent, viewers: viewers.sessions.count,
            areServersGivenUp: places.areGivenUp)
        return course.receive(event, in: situation)
    }

    private func event(for occurrence: Share.Occurrence) async -> ShareCourse.Event? {
        switch occurrence {
        case .viewer(let viewer, let state): return await event(of: viewer, in: state)
        case .served(.joined(let viewer, let served)):
            add(viewer, as: served)
            return nil
        case .served(.waitingForApproval(let served)):
            return .viewerWaiting(name: viewers.name(of: served.id), command: command("admit \(served.id)"))
        case .place(let occurrence):
            let report = places.words(for: occurrence)
            switch occurrence.event {
            case .published(let server, _):
                server.session.connection.setMaximumBitrate(maximumBitrate)
                return .published(report: report)
            case .failed(let error, let retryPolicy, _):
                return .publishingFailed(server: occurrence.place, error: error, retryPolicy, report: report)
            case .disconnected, .reconnected, .losses, .limited: return .serverChanged(report: report)
            }
        case .sourceEnded(let source, let error):
            guard !isHeldBack(occurrence) else { return nil }
            return source === content.current.source ? .sourceEnded(error) : nil
        case .captureEnded(let observer):
            if case .content = observer.role {
                guard !isHeldBack(occurrence) else { return nil }
                return observer === content.current.observer ? .captureEnded : nil
            }
            guard observer.role == .camera else { return observer.otherSourceEnd }
            // A change of the camera that has not finished can take long, and can replace this one.
            Task { if await removeCamera(of: observer) { events.yield(.course(observer.otherSourceEnd)) } }
            return nil
        case .course(let event):
            if case .second = event { followSize() }
            return event
        case .told(let lines):
            note(lines)
            return nil
        case .started, .statusDue: return nil
        }
    }

    /// Holds an end of content back while the content changes, because the change decides whether that content is still
    /// shared.
    private func isHeldBack(_ occurrence: Share.Occurrence) -> Bool {
        guard nextContent != nil else { return false }
        heldBack.append(occurrence)
        return true
    }

    private func event(of viewer: Int, in state: ConnectionState) async -> ShareCourse.Event? {
        let name = viewers.name(of: viewer)
        if state.isOver {
            let failure = viewers.session(of: viewer)?.failure ?? viewers.missingRoute(of: viewer)
            let isRemoved = viewers.isBeingRemoved(viewer)
            return .viewerLeft(name: name, failure: failure, isRemoved: isRemoved, others: viewers.end(viewer))
        }
        switch state {
        case .connected where viewers.didConnect(viewer):
            let isWaiting = room.membership(of: viewer)?.isWaiting == true
            return .viewerConnected(name: name, isWaiting: isWaiting, refused: await room.refusedMedia(of: viewer))
        case .connected: return .viewerReconnected(name: name)
        case .disconnected: return .viewerUnresponsive(name: name)
        case .new, .connecting, .failed, .closed: return nil
        }
    }
}

extension SourceObserver {
    /// The end of a source other than the content.
    fileprivate var otherSourceEnd: ShareCourse.Event { .otherSourceEnded(name: role.name, end?.error) }
}
