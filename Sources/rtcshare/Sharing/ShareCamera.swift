internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia

/// The attendee's own picture in a running share: which camera gives it, and how that goes. Its share control alone has it.
final class ShareCamera {
    private let room: SharingRoom
    private let runner: SourceRunner
    private let events: AsyncStream<Share.Occurrence>.Continuation
    /// Nil if no camera is sent.
    private var present: Opened?
    private var isCapturing = false

    /// A camera, and how its capture goes.
    struct Opened: Sendable {
        let camera: OpenedSources.Camera
        let listener: SourceListener
        /// Whether it was started when it was opened.
        let isStarted: Bool

        init(
            _ camera: OpenedSources.Camera, isStarted: Bool = false, isInPlace: Bool = false,
            events: AsyncStream<Share.Occurrence>.Continuation
        ) {
            (self.camera, self.isStarted) = (camera, isStarted)
            listener = SourceListener(.camera, events, isInPlace: isInPlace)
            camera.source.add(observer: listener)
        }

        func start() throws { try camera.source.start() }
    }

    init(
        _ camera: OpenedSources.Camera?, in room: SharingRoom, runner: SourceRunner,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (self.room, self.runner, self.events) = (room, runner, events)
        present = camera.map { Opened($0, isInPlace: true, events: events) }
    }

    /// Puts it in place; it is sent from when there is a viewer.
    func begin() async throws {
        if let present { try await room.startLocalVideo(source: present.camera.source) }
    }

    /// Begins to capture.
    func start() async throws {
        guard !isCapturing else { return }
        isCapturing = true
        if let present { try await runner.start(present.start) }
    }

    /// Ends capture.
    func stop() {
        isCapturing = false
        if let present { runner.stop(present.camera.source.stop) }
    }

    /// Opens a source that can show the attendee next, and starts it if the share captures.
    func open(_ specification: SourceSpecification) async throws -> Opened {
        guard specification != .standardInput else {
            throw CommandFailure(
                .usage, "\(specification): a running share can't read standard input", try: "file:PATH.y4m")
        }
        return try await WorkerThread.run(named: "camera") { [events, isCapturing] in
            let opened = Opened(try OpenedSources.Camera(specification), isStarted: isCapturing, events: events)
            if isCapturing { try opened.start() }
            return opened
        }
    }

    /// Sends this from now on, or nothing. What can't be started leaves all as it was.
    func change(to new: Opened?) async throws {
        guard let new else {
            await room.stopLocalVideo()
            return replace(with: nil)
        }
        var isStarted = new.isStarted
        do {
            if isCapturing, !isStarted {
                isStarted = true
                try await runner.start(new.start)
            }
            try OpenedSources.checkIsRunning(new.listener.end)
            try await room.startLocalVideo(source: new.camera.source)
        } catch {
            discard(new)
            throw error
        }
        replace(with: new)
        guard isCapturing, !isStarted else { return }
        // Capture began while the camera was shown.
        do {
            try await runner.start(new.start)
        } catch {
            await sourceDidEnd(new.listener)
            throw error
        }
    }

    /// Sends no camera from now on if the present one is what has ended.
    func sourceDidEnd(_ ended: SourceListener) async {
        guard ended === present?.listener else { return }
        await room.stopLocalVideo()
        replace(with: nil)
    }

    private func replace(with new: Opened?) {
        if let present { discard(present) }
        present = new
        new?.listener.enter()
    }

    /// Stops a camera. Its end is not reported.
    func discard(_ opened: Opened) {
        opened.camera.source.remove(observer: opened.listener)
        runner.stop(opened.camera.source.stop)
    }

    /// Switches the light of the camera, or else of one that is `content`.
    func setLight(_ isOn: Bool, content: any CaptureSource, remedy: String) throws {
        guard let camera = [present?.camera.source, content].lazy.compactMap({ $0 as? CameraSource }).first else {
            throw CommandFailure(.usage, "--light: the share has no camera", try: remedy)
        }
        try camera.setTorch(isOn)
    }

    /// How it stands; nil where there is none.
    var status: ControlledShare.Camera? {
        present.map { present in
            let camera = present.camera.source as? CameraSource
            return ControlledShare.Camera(
                spec: present.camera.specification, interruption: present.listener.interruption?.description,
                isLightOn: camera.flatMap { $0.isTorchAvailable ? $0.isTorchEnabled : nil })
        }
    }
}
