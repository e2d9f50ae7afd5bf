internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia

/// The attendee's own picture in a running share: which camera gives it, and how that goes. Its share control alone has it.
final class ShareCamera {
    private let room: SharingRoom
    private let events: AsyncStream<Share.Occurrence>.Continuation
    private var source: (any CaptureSource)?
    /// The SPEC of what gives the picture; nil where none is sent.
    private(set) var specification: String?
    private var listener: SourceListener?
    private var isCapturing = false

    init(
        _ source: (any CaptureSource)?, specification: String?, in room: SharingRoom,
        events: AsyncStream<Share.Occurrence>.Continuation
    ) {
        (self.source, self.specification, self.room, self.events) = (source, specification, room, events)
        listen()
    }

    private func listen() {
        listener = source.map { source in
            let listener = SourceListener(.camera, events)
            source.add(observer: listener)
            return listener
        }
    }

    /// Puts it in place; it is sent from when there is a viewer.
    func begin() async throws {
        if let source { try await room.startLocalVideo(source: source) }
    }

    /// Begins to capture.
    func start() throws {
        guard !isCapturing else { return }
        isCapturing = true
        try source?.start()
    }

    /// Ends capture.
    func stop() {
        isCapturing = false
        source?.stop()
    }

    /// Opens a source that can show the attendee next.
    static func open(_ specification: SourceSpecification) async throws -> any CaptureSource {
        guard specification != .standardInput else {
            throw CommandFailure(
                .usage, "\(specification): a running share can't read standard input", try: "file:PATH.y4m")
        }
        return try await OpenedSources.openCamera(specification)
    }

    /// Sends this from now on, or nothing. What can't be started leaves all as it was.
    func change(to new: (any CaptureSource)?, specification: String?) async throws {
        guard let new else {
            await room.stopLocalVideo()
            return replace(with: nil, specification: nil)
        }
        do {
            if isCapturing { try new.start() }
            try await room.startLocalVideo(source: new)
        } catch {
            new.stop()
            throw error
        }
        replace(with: new, specification: specification)
    }

    /// Sends no camera from now on if the present one is what has ended.
    func sourceDidEnd(_ ended: SourceListener) async {
        guard ended === listener else { return }
        await room.stopLocalVideo()
        replace(with: nil, specification: nil)
    }

    private func replace(with new: (any CaptureSource)?, specification: String?) {
        let old = source
        // That one has ended is no news then.
        if let old, let listener { old.remove(observer: listener) }
        (source, self.specification) = (new, specification)
        listen()
        old?.stop()
    }

    /// Switches the light of the camera, or else of one that is `content`.
    func setLight(_ isOn: Bool, content: any CaptureSource, remedy: String) throws {
        guard let camera = [source, content].lazy.compactMap({ $0 as? CameraSource }).first else {
            throw CommandFailure(.usage, "--light: the share has no camera", try: remedy)
        }
        try camera.setTorch(isOn)
    }

    /// How it stands; nil where there is none.
    var status: ControlledShare.Camera? {
        specification.map { specification in
            let camera = source as? CameraSource
            return ControlledShare.Camera(
                spec: specification, interruption: listener?.interruption?.description,
                isLightOn: camera.flatMap { $0.isTorchAvailable ? $0.isTorchEnabled : nil })
        }
    }
}
