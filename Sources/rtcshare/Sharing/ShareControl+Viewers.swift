internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareSignaling

/// Who sees the share: those who are invited by a description, and those who come by a link.
extension ShareControl {
    /// Offers that wait for their answers at a time.
    private static let mostInvited = 16

    // MARK: By description

    /// Makes an offer for one more viewer.
    func invite(_ membership: RoomMembership) async throws -> ControlAnswer {
        let waiting = viewers.offers.count
        guard waiting < Self.mostInvited else {
            throw CommandFailure(
                .unavailable, "\(waiting) offers wait for their answers already; admit one of them first")
        }
        var configuration = inviting.configuration
        configuration.maxBitrate = await maximumBitrate
        let viewer = try await room.addViewer(
            media: inviting.media, configuration: configuration, membership: membership)
        do {
            let connection = viewer.session.connection
            try await Gathering.run(
                on: connection, servers: configuration.iceServers, policy: inviting.policy)
            let offer = try await connection.makeOffer()
            listen(to: viewer, state: .invited(offer))
            Terminal.shared.say("Viewer \(viewer.id) is invited.")
            return .offer(viewer: viewer.id, description: offer.description)
        } catch {
            await viewer.session.leave()
            throw error
        }
    }

    /// Takes the answer of a viewer who was invited.
    func admit(_ viewer: Int?, _ text: String) async throws {
        let offers = viewers.offers
        let waiting = offers.keys.sorted()
        guard let id = viewer ?? waiting.first else {
            throw CommandFailure(.unavailable, "nobody was invited who has not answered; run rtcshare invite first")
        }
        let names = waiting.map(String.init).joined(separator: ", ")
        guard viewer != nil || waiting.count == 1 else {
            throw CommandFailure(.usage, "the viewers \(names) were invited; say whose answer this is with --viewer")
        }
        guard let offer = offers[id], let member = await room.viewers.first(where: { $0.id == id }) else {
            throw CommandFailure(
                .usage,
                "--viewer \(id): no answer of this viewer is waited for"
                    + (waiting.isEmpty ? "" : "; those who were invited are \(names)"))
        }
        let answer = try SessionDescription.parse(text)
        _ = try Negotiation.negotiate(offer: offer, answer: answer)
        try await member.session.connection.accept(answer: answer, to: offer)
        // It may have been quicker.
        if case .invited = viewers[id] { viewers[id] = .connecting }
    }

    // MARK: By a link

    /// Who lets viewers in, for a command that is about them.
    func behindServer(_ command: String) throws(CommandFailure) -> ViewerServer {
        guard let server else {
            throw CommandFailure(.usage, "\(command): this share has no link; rtcshare serve makes one that has")
        }
        return server
    }

    /// Sends a viewer away.
    func kick(_ viewer: Int) async throws {
        if let server, await server.viewers.contains(where: { $0.id == viewer }) {
            Terminal.shared.say("\(viewers.name(of: viewer)) is sent away.")
            return try await server.kick(viewer)
        }
        guard let member = await room.viewers.first(where: { $0.id == viewer }) else {
            throw CommandFailure(.usage, "there is no viewer \(viewer), or no more; rtcshare status lists them")
        }
        await member.session.leave()
    }

    /// The share's links, or those to a subgroup.
    func links(_ name: String?) async throws -> ControlAnswer {
        let server = try behindServer("link")
        var subgroup: Subgroup?
        if let name {
            let wanted = try Subgroup(name)
            guard await room.subgroups.contains(wanted) else {
                throw CommandFailure(
                    .usage, "you are not in the subgroup \(name); join it first: rtcshare subgroup join \(name)")
            }
            subgroup = wanted
        }
        return .links(server.links(hosts: linkHosts, subgroup: subgroup).map(\.url))
    }
}
