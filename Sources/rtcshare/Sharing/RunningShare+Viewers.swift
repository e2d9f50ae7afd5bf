internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareTransport

/// The viewers of the share: invited ones, and those of the link.
extension RunningShare {
    /// The maximum number of offers without an answer.
    private static let mostInvited = 16

    /// Adds a viewer. If `offer` is given, the viewer has not answered it yet.
    func add(_ viewer: RoomViewer, name: String? = nil, offer: SessionDescription? = nil) {
        viewers.add(viewer, name: name, offer: offer)
        viewer.session.connection.setMaximumBitrate(maximumBitrate)
        // The viewer may have connected or left before this.
        self.viewer(viewer.id, didChangeTo: viewer.session.state)
    }

    // MARK: Invitations

    /// Creates an offer for a new viewer.
    func invite(_ membership: RoomMembership) async throws -> ControlAnswer {
        let waiting = viewers.offers.count
        guard waiting < Self.mostInvited else {
            throw CommandFailure(
                .unavailable, "\(waiting) invited viewers have not answered yet",
                try: "rtcshare kick N (rtcshare status lists the viewers)")
        }
        var configuration = inviting.configuration
        configuration.maxBitrate = maximumBitrate
        let viewer = try await room.addViewer(
            media: inviting.media, configuration: configuration, membership: membership)
        do {
            let connection = viewer.session.connection
            try await Gathering.run(
                on: connection, servers: configuration.iceServers, policy: inviting.policy)
            let offer = try await connection.makeOffer()
            add(viewer, offer: offer)
            Terminal.shared.say("Viewer \(viewer.id) is invited.")
            return .offer(viewer: viewer.id, description: offer.description)
        } catch {
            await viewer.session.leave()
            throw error
        }
    }

    /// Accepts an answer, which belongs to the offer of an invited viewer. Returns a sentence with the result.
    func accept(_ viewer: Int?, _ text: String) async throws -> String {
        let answer = try SessionDescription.parse(text)
        let id = try Self.viewer(answering: viewers.offers, by: answer, named: viewer)
        guard let offer = viewers.offers[id], let session = room.session(of: id) else {
            throw unknownViewer(id)
        }
        try AnswerFile.check(answer, answers: offer, name: "the answer")
        try await session.connection.accept(answer: answer, to: offer)
        viewers.didAnswer(id)
        return "The answer of viewer \(id) is accepted."
    }

    /// Returns the viewer whose offer an answer belongs to.
    /// - Throws: `CommandFailure` if that is not the named viewer, or if the answer belongs to none of the offers.
    nonisolated static func viewer(
        answering offers: [Int: SessionDescription], by answer: SessionDescription, named: Int?
    ) throws(CommandFailure) -> Int {
        let own = offers.filter { $0.value.isAnswered(by: answer) }.keys.min()
        if let own, own == named ?? own { return own }
        if let own, let named {
            throw CommandFailure(
                .usage, "--viewer \(named): this is the answer of viewer \(own)",
                try: "rtcshare accept --viewer \(own) FILE")
        }
        guard !offers.isEmpty else {
            throw CommandFailure(
                .unavailable, "no invited viewer waits for an answer", try: "rtcshare invite > offer.sdp")
        }
        let names = offers.keys.sorted().map(String.init).joined(separator: ", ")
        if let named {
            guard offers[named] == nil else { return named }
            throw CommandFailure(
                .inputMissing, "--viewer \(named): this viewer does not wait for an answer",
                try: "rtcshare accept --viewer \(offers.keys.min() ?? 1) FILE (invited: \(names))")
        }
        // Some programs rename media sections. If there is only one offer, the answer must belong to it.
        if offers.count == 1, let only = offers.keys.first { return only }
        throw CommandFailure(
            .badInput, "the answer belongs to none of the open offers, which are those of the viewers \(names)",
            try: "rtcshare invite > offer.sdp (then give the new offer to the viewer)")
    }

    // MARK: The link

    func add(_ viewer: RoomViewer, as served: ServedViewer) {
        let words = [served.browser, served.address].compactMap { $0 }
        add(viewer, name: words.isEmpty ? nil : words.joined(separator: ", "))
    }

    func linkServer() throws(CommandFailure) -> ViewerServer {
        guard let server else {
            throw CommandFailure(
                .usage, "this share has no link, because it was not started with rtcshare serve", try: "rtcshare serve")
        }
        return server
    }

    /// Admits a waiting viewer. Returns false if it was admitted before.
    func admit(_ viewer: Int) throws -> Bool {
        let server = try linkServer()
        do throws(ViewerServerError) {
            try server.admit(viewer)
            return true
        } catch {
            switch error {
            case .unknownViewer: throw unknownViewer(viewer)
            case .notWaiting: return false
            }
        }
    }

    /// Makes new viewers wait for admission, or not. Returns a sentence with the result.
    func setApproval(_ isNeeded: Bool) throws -> String {
        let server = try linkServer()
        server.requiresApproval = isNeeded
        if isNeeded { return "New viewers wait until you admit them." }
        guard !server.isLocked else {
            return "Viewers don't need approval any more, but the link is locked: new viewers can't join."
        }
        admitViewersWithoutApproval(at: server)
        return "Anyone with the link can watch."
    }

    /// Admits the viewers who wait, if viewers of the open link need no approval: they could join again.
    func admitViewersWithoutApproval(at server: ViewerServer) {
        guard !server.requiresApproval else { return }
        for viewer in room.viewers where viewer.membership.isWaiting { _ = try? server.admit(viewer.id) }
    }

    /// Disconnects a viewer. Returns a sentence with the result.
    func kick(_ viewer: Int) async throws -> String {
        let name = viewers.name(of: viewer)
        // Publications and previews have numbers in the room, too.
        let session = viewers.session(of: viewer) == nil ? nil : room.session(of: viewer)
        let isServed = server?.viewers.contains { $0.id == viewer } == true
        guard isServed || session != nil else { throw unknownViewer(viewer) }
        viewers.willRemove(viewer)
        if isServed {
            // The viewer may have left in the meantime.
            do { try await server?.kick(viewer) } catch { throw unknownViewer(viewer) }
        } else {
            await session?.leave()
        }
        return "\(name) is disconnected."
    }

    private func unknownViewer(_ viewer: Int) -> CommandFailure {
        CommandFailure(.inputMissing, "no viewer \(viewer)", try: "rtcshare status")
    }

    /// Returns the links of the share, or those of a subgroup.
    func links(_ name: String? = nil) throws -> [ViewerLink] {
        let server = try linkServer()
        var subgroup: Subgroup?
        if let name {
            let wanted = try Subgroup(name)
            guard room.subgroups.contains(wanted) else {
                throw CommandFailure(
                    .usage, "you are not in the subgroup \(name)", try: "rtcshare subgroup join \(name)")
            }
            subgroup = wanted
        }
        return server.links(hosts: linkHosts, outside: outsideAddress, subgroup: subgroup)
    }

    /// Returns the QR code of the first link that leads to this machine from another one.
    func linkCode() throws -> ControlAnswer {
        guard let link = try links().first(where: { $0.reach != .machine }), let code = QRCode.svg(for: link.url) else {
            throw CommandFailure(
                .inputMissing, "no link works on other machines",
                try: "restart the share with --address ADDR, and without an address in --listen")
        }
        return .content(type: "image/svg+xml", Array(code.utf8))
    }
}

extension RunningShare: SharingRoomObserver {
    func roomDidChange() {}

    /// Notifies the share of the state of a viewer, but not of a publication or a preview.
    func viewer(_ id: Int, didChangeTo state: ConnectionState) {
        if state.isOver { previews[id] = nil }
        if state != .new, viewers.session(of: id) != nil { events.yield(.viewer(id, state)) }
    }
}
