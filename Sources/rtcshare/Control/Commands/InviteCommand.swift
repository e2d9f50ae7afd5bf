internal import ArgumentParser
internal import RTCShareContentShare

struct InviteCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite", abstract: "Create an offer for one more viewer of a running share.",
        discussion: """
            The offer goes to standard output. Pass it to the viewer, save the viewer's answer, and accept it while the share is
            still running:

                rtcshare invite > offer.sdp
                rtcshare accept answer.sdp
            """)

    @OptionGroup var place: ViewerMembershipOptions

    @Flag(help: "Print the viewer's number and the offer as JSON.") var json = false

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            let request = ControlRequest.invite(main: !place.noMain, subgroups: place.subgroup)
            let offer = try await share.connect().ask(request, ControlDescription.self)
            if json { return try StandardStreams.writeJSON(offer) }
            try StandardStreams.writeData(offer.sdp)
            let viewer = offer.viewer ?? 0
            Terminal.shared.say(
                "This offer is for viewer \(viewer). When you have the answer, run: rtcshare accept --viewer \(viewer) FILE"
            )
        }
    }
}

extension RoomMembership {
    /// Creates the membership of `--subgroup` and `--no-main`.
    init(main: Bool, subgroups names: [String]) throws {
        let subgroups = Set(try names.map { try Subgroup($0) })
        self = main ? RoomMembership(subgroups: subgroups) : try RoomMembership(onlySubgroups: subgroups)
    }
}
