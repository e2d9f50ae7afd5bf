internal import ArgumentParser
internal import RTCShareContentShare
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for the control of a running share, and for its destination.
struct RunningOptions: ParsableArguments {
    /// The configuration file, which ``ConfiguredOptions`` reads before the rest of the command line.
    @Option(
        help: ArgumentHelp(
            "Read options from this TOML file. Default: ~/.config/rtcshare/config.toml, if it exists.",
            valueName: "file.toml"), completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(help: ArgumentHelp("Name of this share for the other commands. Default: share.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Path of the control socket. Default: $XDG_RUNTIME_DIR/rtcshare/NAME.sock.", valueName: "path"),
        completion: .file())
    var control: String?

    @Flag(help: "Create no control socket. Commands such as status and pause do not work then.") var noControl = false

    @Flag(help: "Print the link of the page that controls this share, for your own browser.") var console = false

    @Option(
        help: ArgumentHelp(
            "Join this subgroup and share to it, or share to the main room. Default: main.", valueName: "subgroup|main"),
        completion: .list(["main"]))
    var destination: String?

    func validate() throws {
        guard [name != nil, control != nil, noControl].count(where: { $0 }) < 2 else {
            throw ValidationError("--name, --control and --no-control exclude each other: give one")
        }
    }

    /// Creates the room of a share, without viewers. The owner joins the subgroups of `place`. The streams run on the
    /// event loop of `port`.
    func room(
        of owner: AttendeeID, joining place: any MembershipOptions, on port: SharedPort? = nil
    ) async throws -> SharingRoom {
        if let name { try ControlSocket.check(name: name) }
        _ = try place.membership
        let room = try SharingRoom(owner: owner, ports: port.map { SharedPorts([$0]) })
        for subgroup in place.subgroup { await room.join(try Subgroup(subgroup)) }
        guard let destination else { return room }
        let target: ShareDestination
        do {
            target = try ShareDestination(destination)
        } catch {
            let explanation = error.explanation
            throw CommandFailure(.usage, "--destination: \(explanation.problem)", try: explanation.remedy)
        }
        if case .subgroup(let subgroup) = target { await room.join(subgroup) }
        try await room.changeDestination(to: target)
        return room
    }
}

/// The options for a membership in a room.
protocol MembershipOptions {
    var subgroup: [String] { get }
    var noMain: Bool { get }
}

extension MembershipOptions {
    var membership: RoomMembership {
        get throws { try RoomMembership(main: !noMain, subgroups: subgroup) }
    }

    func validateMembership() throws {
        if noMain, subgroup.isEmpty { throw ValidationError("--no-main needs --subgroup: give both") }
    }
}

/// The membership of the viewer of `send` or `invite`.
struct ViewerMembershipOptions: ParsableArguments, MembershipOptions {
    @Option(help: ArgumentHelp("Put the viewer in this subgroup. Repeatable.", valueName: "subgroup"))
    var subgroup: [String] = []

    @Flag(help: "Put the viewer only in its subgroups, not in the main room.") var noMain = false

    func validate() throws { try validateMembership() }
}

/// The membership of the servers of `serve`, whose subgroups the presenter joins. A viewer's membership is that of its
/// link.
struct ServerMembershipOptions: ParsableArguments, MembershipOptions {
    @Option(
        help: ArgumentHelp(
            """
            Join this subgroup. The servers of --whip and --janus join it, too. To print its links: rtcshare link --subgroup \
            NAME. Repeatable.
            """, valueName: "subgroup"))
    var subgroup: [String] = []

    @Flag(help: "Put the servers of --whip and --janus only in the subgroups, not in the main room.")
    var noMain = false

    func validate() throws { try validateMembership() }
}
