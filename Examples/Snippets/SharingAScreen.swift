import RTCShare

// The code of the article SharingAScreen.

func shareDisplay(exchange: (String) async throws -> String) async throws {
    // snippet:share
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), media: [.content, .contentAudio])
    let offer = try await session.connection.offer()
    let answer = try await exchange(offer)

    try await session.contentShare.start(capturing: .display(), audio: .systemAudio())
    try await session.connection.accept(answer: answer)
    try await session.waitUntilEnd()
    // end
}

func change(_ session: AttendeeSession) async throws {
    // snippet:change
    try await session.contentShare.start(capturing: .window(titled: "Notes"))
    try await session.contentShare.update(
        VideoEncodingParameters(
            maxBitrate: .kilobitsPerSecond(6000), maxFramerate: 15, maxSize: PixelSize(width: 1280, height: 720),
            contentHint: .text))

    let picture = await session.contentShare.videoTrack
    picture?.isPaused = true
    picture?.isPaused = false
    try await session.contentShare.stop()
    await session.leave()
    // end
}

func printEvents(of session: AttendeeSession) async {
    // snippet:events
    for await event in await session.contentShare.events {
        switch event {
        case .started: print("the first frame is on its way")
        case .stopped(let status): print("the share stopped: \(status)")
        case .silent(let time): print("the source has sent no frame for \(time)")
        case .sourceEnded: print("the source has no more frames")
        case .muteChanged(let isMuted): print(isMuted ? "the share is paused" : "the share goes on")
        }
    }
    // end
}

func shareApart(_ session: AttendeeSession) async throws {
    // snippet:apart
    let screen = try DisplaySource(area: .screen, framesPerSecond: 15)
    try await session.contentShare.start(source: screen)
    try screen.start()
    // end
}

func shareBeside() async throws {
    // snippet:beside
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), media: [.content, .camera, .microphone])
    let face = try Y4MSource(path: "me.y4m", loop: true)
    let voice: PulseSource = try .microphone()
    try await session.startCamera(source: face)
    try await session.startMicrophone(source: voice)
    try face.start()
    try voice.start()
    // end
}
