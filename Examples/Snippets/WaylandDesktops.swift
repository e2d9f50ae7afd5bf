import RTCShare

// The code of the article WaylandDesktops.

func sharePortal(_ session: AttendeeSession, keptToken: inout String?) async throws {
    // snippet:portal
    let source = try PortalSource(.monitor, restoreToken: keptToken)
    try source.open()
    keptToken = source.restoreToken
    try await session.contentShare.start(capturing: source)
    // end
}
