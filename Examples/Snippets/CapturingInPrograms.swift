import RTCShare

// The code of the article CapturingInPrograms.

func showCamera(_ room: SharingRoom) async throws -> CameraSource {
    // snippet:camera
    let camera = try CameraSource(named: "front", size: PixelSize(width: 1280, height: 720), framesPerSecond: 30)
    try await room.startCamera(source: camera)
    try camera.start()
    // end
    return camera
}

func changeCamera(_ camera: CameraSource) async throws {
    // snippet:change
    try camera.switchCamera()
    if camera.isTorchAvailable { try camera.setTorch(true) }
    for await cameras in try CameraDevice.updates() {
        if let back = cameras.first(where: { $0.description.contains("Back") }) { camera.use(back) }
    }
    // end
}

func sharePortal(_ session: AttendeeSession, keptToken: inout String?) async throws {
    // snippet:portal
    let source = try PortalSource(.monitor, restoreToken: keptToken)
    try source.open()
    keptToken = source.restoreToken
    try await session.contentShare.start(capturing: source)
    // end
}
