internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia

extension RunningShare {
    private static let cameraRemedy = "restart the share with --camera camera"

    /// Sends another camera from now on, or none. If this fails, the share has not changed.
    func change(camera specification: CameraSpecification) async throws {
        guard inviting.media.contains(.camera) else {
            throw CommandFailure(
                .usage, "the share was started without --camera, so a camera can't be added", try: Self.cameraRemedy)
        }
        let number = requests.number()
        var opened: OpenedCamera?
        if let source = specification.source { opened = try await openCamera(source) }
        do {
            try await inTurn { [opened] in
                guard !requests.isOvertaken(number, for: .camera) else { throw Self.overtaken(specification) }
                if let opened { try await send(opened) } else { output.stopCamera() }
                replaceCamera(with: opened)
                requests.finish(number, for: .camera)
            }
        } catch {
            if let opened { discard(opened) }
            throw error
        }
    }

    /// Opens a camera, and starts it if the share captures.
    private func openCamera(_ specification: SourceSpecification) async throws -> OpenedCamera {
        guard specification != .standardInput else { throw Self.standardInputIsTaken(specification) }
        let isCapturing = content.isCapturing
        return try await WorkerThread.run(named: "camera") { [events] in
            let opened = OpenedCamera(
                try OpenedSources.Camera(specification), isStarted: isCapturing, events: events)
            if isCapturing { try opened.source.startOrStop() }
            return opened
        }
    }

    private func send(_ new: OpenedCamera) async throws {
        if content.isCapturing, !new.isStarted { try await runner.start(new.source) }
        try await new.observer.checkIsRunning()
        try await output.startCamera(new.source)
    }

    /// Stops sending the camera if the observer is that of the current camera, which has ended. Returns whether it is.
    func removeCamera(of ended: SourceObserver) async -> Bool {
        await sourceTurns.run {
            guard ended === camera?.observer else { return false }
            output.stopCamera()
            replaceCamera(with: nil)
            return true
        }
    }

    private func replaceCamera(with new: OpenedCamera?) {
        if let camera { discard(camera) }
        camera = new
        if let new { new.observer.startReporting(on: new.source) }
    }

    /// Stops a camera, and ignores its end.
    private func discard(_ camera: OpenedCamera) {
        camera.observer.stopReporting()
        runner.stop(camera.source)
    }

    /// Switches the light of the camera, or of the content if that is a camera.
    func setLight(_ isOn: Bool) async throws {
        try await inTurn {
            let sources = [camera?.source, content.current.source]
            guard let camera = sources.lazy.compactMap({ $0 as? CameraSource }).first else {
                throw CommandFailure(
                    .usage, "--light: the share has no camera",
                    try: inviting.media.contains(.camera) ? command("camera camera --light") : Self.cameraRemedy)
            }
            // This call waits for PipeWire.
            try await WorkerThread.run(named: "camera light") { try camera.setTorch(isOn) }
        }
    }

    /// The state of the camera. Nil if no camera is sent.
    var cameraStatus: ControlledShare.Camera? {
        camera.map { present in
            let camera = present.source as? CameraSource
            return ControlledShare.Camera(
                spec: present.specification, interruption: present.observer.interruption?.description,
                isLightOn: camera.flatMap { $0.isTorchAvailable ? $0.isTorchEnabled : nil })
        }
    }
}
