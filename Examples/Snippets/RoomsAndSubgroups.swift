import RTCShare

// The code of the article RoomsAndSubgroups.

func open(exchange: (String) async throws -> String) async throws -> SharingRoom {
    // snippet:room
    let room = try SharingRoom(owner: AttendeeID("alice"))
    try await room.contentShare.start(capturing: .display())

    let viewer = try await room.addViewer()
    let offer = try await viewer.session.connection.offer()
    let answer = try await exchange(offer)
    try await viewer.session.connection.accept(answer: answer)
    // end
    return room
}

func move(_ room: SharingRoom, _ viewer: RoomViewer) async throws {
    // snippet:subgroups
    let design = try Subgroup("design")
    let third = try await room.addViewer(membership: RoomMembership(onlySubgroups: [design]))
    try await room.changeMembership(of: viewer.id, to: RoomMembership(subgroups: [design]))

    await room.join(design)
    try await room.changeDestination(to: .subgroup(design))
    try await room.changeDestination(to: .main)
    try await room.leave(design)
    // end
    await third.session.leave()
}

func start(_ room: SharingRoom, _ screen: any VideoSource, _ design: Subgroup) async throws {
    // snippet:start-in-subgroup
    try await room.startContentShare(source: screen, to: .subgroup(design))
    // end
}

func end(_ room: SharingRoom) async {
    // snippet:end
    await room.end()
    // end
}

func openOnSharedPorts() async throws -> (SharingRoom, RoomViewer, SharedPorts) {
    // snippet:ports
    let ports = try await SharedPorts()
    let room = try SharingRoom(owner: AttendeeID("alice"), ports: ports)
    var configuration = Connection.Configuration()
    configuration.releasesHandshake = true
    let viewer = try await room.addViewer(configuration: configuration)
    // end
    return (room, viewer, ports)
}
