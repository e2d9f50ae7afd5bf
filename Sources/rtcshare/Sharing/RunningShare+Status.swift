internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareWireFormat

/// The state of a share, as its control socket reports it.
extension RunningShare {
    /// The reason why the source delivers no frames. Nil if it does.
    var interruption: String? {
        content.lossDuringPause?.statement ?? content.current.observer.interruption?.description
    }

    /// Returns the whole state.
    func report() async -> ControlledShare {
        let places = await places.report(rates)
        // All facts after this are of the same time, because there is no suspension.
        let served = Dictionary((server?.viewers ?? []).map { ($0.id, $0) }) { $1 }
        let isLocked = server?.isLocked
        let isPublished = places.contains { $0.state == .published || $0.state == .disconnected }
        let listed = room.viewers.compactMap { viewer in
            viewers[viewer.id].map { state in
                ControlledShare.Viewer(
                    viewer, state: state, served: served[viewer.id], rates: rates.viewers[viewer.id],
                    condition: troubles[viewer.id])
            }
        }
        return ControlledShare(
            name: name, pid: ProcessInfo.processInfo.processIdentifier, attendee: room.owner.name,
            state: .init(
                isPaused: content.isPaused, isPublished: isPublished, hasLink: server != nil, viewers: listed),
            source: content.current.specification,
            interruption: interruption,
            camera: cameraStatus, canSendCamera: inviting.media.contains(.camera), sounds: sounds.audioStatus,
            microphone: sounds.microphoneStatus,
            width: rates.size?.width, height: rates.size?.height, framesPerSecond: rates.framesPerSecond,
            bitrate: rates.bitsPerSecond / 1000, qualityLimitationReason: qualityLimitationReason,
            maxBitrate: Int(contentBitrate.bitsPerSecond / 1000),
            isBitrateAutomatic: parameters.maxBitrate == nil,
            maxFramerate: parameters.maxFramerate ?? options.quality.maxFramerate,
            codec: codecDecision.map(ControlledShare.Codec.init), maxWidth: parameters.maxSize?.width,
            maxHeight: parameters.maxSize?.height, hint: parameters.contentHint.flatMap(SharingOptions.Hint.init),
            isSlateShown: content.isSlateShown,
            isAudioMuted: sounds.isAudioMuted, isMicrophoneMuted: sounds.isMicrophoneMuted,
            destination: room.destination.description, subgroups: room.subgroups.map(\.name).sorted(),
            isLocked: isLocked,
            needsApproval: server?.requiresApproval,
            recording: activeFilm.map { .init(file: $0.recorder.path, seconds: $0.duration / .seconds(1)) },
            viewers: listed, servers: places, messages: messages.newest,
            uptime: (startTime.duration(to: .now) / .seconds(1)).rounded(.down))
    }
}

extension ControlledShare.State {
    /// Returns the state of a share with these viewers. A viewer who waits for admission receives nothing.
    init(isPaused: Bool, isPublished: Bool, hasLink: Bool, viewers: [ControlledShare.Viewer]) {
        let isSeen = isPublished || viewers.contains { !$0.isWaiting && $0.state.hasConnected }
        let isIdle = hasLink && viewers.allSatisfy { $0.isWaiting && $0.state.hasConnected }
        self = isPaused ? .paused : isSeen ? .sharing : isIdle ? .waiting : .connecting
    }
}

extension ControlledShare.Codec {
    fileprivate init(_ decision: CodecDecision) {
        self.init(
            name: decision.codec, reason: decision.reason, alternative: decision.alternative,
            retryIn: decision.retryTime.map { ($0 / .seconds(1)).rounded(.up) })
    }
}

extension ControlledShare.Viewer {
    fileprivate init(
        _ viewer: RoomViewer, state: ConnectionState, served: ServedViewer?, rates: ViewerRates?,
        condition: ViewerTroubles.Condition?
    ) {
        let trouble = state == .disconnected ? .silent : condition?.trouble
        self.init(
            id: viewer.id, state: state, isWaiting: viewer.membership.isWaiting, groups: viewer.membership.names,
            address: served?.address, browser: served?.browser,
            since: served.map { Date(timeIntervalSince1970: $0.since) }, codec: rates?.codec,
            bitrate: rates.map { $0.bitsPerSecond / 1000 }, fractionLost: rates?.fractionLost,
            roundTripTime: rates?.roundTripTime, path: rates?.path, trouble: trouble,
            troubleFigure: trouble == condition?.trouble ? condition?.figure : nil)
    }
}

extension RoomMembership {
    fileprivate var names: [String] {
        (isInMainRoom ? [Subgroup.mainRoom] : []) + subgroups.map(\.name).sorted()
    }
}
