internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareWireFormat

/// The state of a share, as its control socket reports it.
extension ShareControl {
    /// All of it.
    func report() async -> ControlledShare {
        let present = await room.viewers
        let served = Dictionary((await server?.viewers ?? []).map { ($0.id, $0) }) { $1 }
        let isLocked = await server?.isLocked
        let places = await places.report(rates)
        let isPublished = places.contains { $0.state == .published || $0.state == .disconnected }
        let destination = await room.destination
        let subgroups = await room.subgroups
        let status = await sources.status
        let limits = status.parameters
        let listed = present.compactMap { viewer in
            viewers[viewer.id].flatMap { state in
                state.isOver
                    ? nil
                    : ControlledShare.Viewer(
                        viewer, state: state, served: served[viewer.id], rates: rates.viewers[viewer.id])
            }
        }
        return ControlledShare(
            name: name, pid: ProcessInfo.processInfo.processIdentifier, attendee: room.owner.name,
            state: .init(
                isPaused: status.isPaused, isPublished: isPublished, hasLink: server != nil, viewers: listed),
            source: status.specification, interruption: status.interruption,
            camera: camera.status, sounds: status.sounds, microphone: status.microphone, width: rates.size?.width,
            height: rates.size?.height,
            framesPerSecond: rates.framesPerSecond, bitrate: rates.bitsPerSecond / 1000,
            maxBitrate: Int(contentBitrate(limits).bitsPerSecond / 1000),
            maxFramerate: limits.maxFramerate ?? options.quality.maxFramerate, maxWidth: limits.maxSize?.width,
            maxHeight: limits.maxSize?.height, hint: limits.contentHint.flatMap(SharingOptions.Hint.init),
            isSlateShown: status.isSlateShown, isAudioMuted: status.isAudioMuted,
            isMicrophoneMuted: status.isMicrophoneMuted, destination: destination.description,
            subgroups: subgroups.map(\.name).sorted(), isLocked: isLocked,
            needsApproval: server?.asksBeforeAdmitting,
            recording: film.map { .init(file: $0.recorder.path, seconds: $0.duration / .seconds(1)) },
            viewers: listed, servers: places, uptime: (begun.duration(to: .now) / .seconds(1)).rounded(.down))
    }
}

extension ControlledShare.State {
    /// The state of a share with these viewers. A viewer who waits to be admitted receives nothing.
    init(isPaused: Bool, isPublished: Bool, hasLink: Bool, viewers: [ControlledShare.Viewer]) {
        let isSeen = isPublished || viewers.contains { !$0.isWaiting && $0.state.hasConnected }
        let isIdle = hasLink && viewers.allSatisfy { $0.isWaiting && $0.state.hasConnected }
        self = isPaused ? .paused : isSeen ? .sharing : isIdle ? .waiting : .connecting
    }
}

extension ControlledShare.Viewer {
    fileprivate init(_ viewer: RoomViewer, state: ConnectionState, served: ServedViewer?, rates: ViewerRates?) {
        self.init(
            id: viewer.id, state: state, isWaiting: viewer.membership.isWaiting, groups: viewer.membership.names,
            address: served?.address, browser: served?.browser,
            since: served.map { Date(timeIntervalSince1970: $0.since) }, bitrate: rates.map { $0.bitsPerSecond / 1000 },
            fractionLost: rates?.fractionLost, roundTripTime: rates?.roundTripTime, path: rates?.path)
    }
}

extension RoomMembership {
    fileprivate var names: [String] {
        (isInMainRoom ? [Subgroup.mainRoom] : []) + subgroups.map(\.name).sorted()
    }
}
