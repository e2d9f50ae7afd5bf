internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// How a share stands, as whoever asks at its socket is told.
extension ShareControl {
    /// All of it.
    func report() async -> ControlledShare {
        let present = await room.viewers
        let served = await server?.viewers ?? []
        let isLocked = await server?.isLocked
        let places = await places.report(rates)
        let isPublished = places.contains { $0.state == .published || $0.state == .away }
        let destination = await room.destination
        let subgroups = await room.subgroups
        let status = await sources.status
        let idle: ControlledShare.State = server != nil && viewers.isEmpty ? .waiting : .connecting
        return ControlledShare(
            name: name, pid: ProcessInfo.processInfo.processIdentifier, attendee: room.owner.rawValue,
            state: status.isPaused ? .paused : viewers.hasAnyConnected || isPublished ? .sharing : idle,
            source: status.specification, interruption: status.interruption?.description,
            camera: camera.status, sounds: status.sounds, microphone: status.microphone, width: rates.size?.width,
            height: rates.size?.height,
            framesPerSecond: rates.framesPerSecond, bitrate: rates.bitsPerSecond / 1000,
            maxBitrate: Int(contentBitrate(status.configuration).bitsPerSecond / 1000),
            maxFramerate: status.configuration.maxFramerate ?? options.maxFramerate,
            hint: status.configuration.contentHint.flatMap { SharingOptions.Hint($0) },
            isSlateShown: status.isSlateShown, isAudioMuted: status.isAudioMuted,
            isMicrophoneMuted: status.isMicrophoneMuted, destination: destination.description,
            subgroups: subgroups.map(\.name).sorted(), isLocked: isLocked,
            recording: film.map { .init(file: $0.recorder.path, seconds: $0.duration / .seconds(1)) },
            viewers: present.compactMap { viewer in
                guard let state = viewers[viewer.id]?.told else { return nil }
                return ControlledShare.Viewer(
                    viewer, state: state, served: served.first { $0.id == viewer.id }, rates: rates.viewers[viewer.id])
            }, places: places, uptime: (begun.duration(to: .now) / .seconds(1)).rounded(.down))
    }
}

extension ControlledShare.Viewer {
    fileprivate init(_ viewer: RoomViewer, state: State, served: ServedViewer?, rates: ViewerRates?) {
        self.init(
            id: viewer.id, state: viewer.membership.isWaiting && state == .connected ? .waiting : state,
            groups: viewer.membership.names, address: served?.address, browser: served?.browser,
            since: served.map { Date(timeIntervalSince1970: $0.since) }, bitrate: rates.map { $0.bitsPerSecond / 1000 },
            fractionLost: rates?.fractionLost, roundTripTime: rates?.roundTripTime, path: rates?.path)
    }
}

extension RoomMembership {
    fileprivate var names: [String] {
        (isInMainRoom ? [Subgroup.mainRoom] : []) + subgroups.map(\.name).sorted()
    }
}
