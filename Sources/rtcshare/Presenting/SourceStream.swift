internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareVideoCoding

/// The sources that can be shared now, with images, as server-sent events: `screens`, `cameras` and `audio` (parts of
/// ``SourceListing``), `image`, `level` and `problem`. Each comes again when it has changed.
struct SourceStream: Hashable, Sendable {
    /// The maximum width of images.
    let width: Int
    /// The microphone, or audio of the machine, whose level is shown.
    let microphone: AudioSpecification?
    /// The camera whose images are shown.
    let camera: SourceSpecification?
    let environment: [String: String]

    private static let defaultWidth = 320
    private static let widths = 80...640
    private static let imageWidths = 80...1920

    /// Reads the parameters of a request: a camera or microphone is used only if it is named.
    /// - Throws: ``SpecificationError`` if one is invalid.
    init(
        width: String? = nil, microphone: String? = nil, camera: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SpecificationError) {
        self.width = try Self.width(width, in: Self.widths) ?? Self.defaultWidth
        self.microphone = try microphone.map { (text) throws(SpecificationError) in
            let specification = try AudioSpecification(text)
            switch specification {
            case .microphone, .system: return specification
            default:
                throw .invalidSpecification(
                    text: text, problem: "this audio has no level before it is shared",
                    remedy: "microphone, microphone:DEVICE, system or system:SINK")
            }
        }
        self.camera = try camera.map { (text) throws(SpecificationError) in
            let specification = try SourceSpecification(text)
            guard case .camera = specification else {
                throw .invalidSpecification(
                    text: text, problem: "this source is not a camera", remedy: "camera or camera:NAME")
            }
            return specification
        }
        self.environment = environment
    }

    /// Starts to watch the sources. Everything that this needs ends with the stream, or when its task is canceled.
    func start(_ events: SourceEvents = SourceEvents()) -> AsyncStream<[UInt8]> {
        let owner = Owner(events: events)
        events.start()
        WorkerThread.start(named: "source screens") { watchScreens(events) }
        WorkerThread.start(named: "source cameras") { watchCameras(events) }
        WorkerThread.start(named: "source audio") { watchSounds(events) }
        return AsyncStream {
            await owner.events.read()
        } onCancel: {
            events.end()
        }
    }

    /// Returns a PNG file of a display, an output or a region, fitted within `width`, to choose a region on it.
    /// - Throws: ``SpecificationError`` if a parameter is invalid, ``CaptureError`` if the display can't be read.
    static func image(
        of text: String, width: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> [UInt8] {
        let width = try Self.width(width, in: imageWidths) ?? imageWidths.upperBound
        let area: DisplaySource.Area =
            switch try SourceSpecification(text) {
            case .display(nil): .screen
            case .display(let output?): .output(output)
            case .region(let region): .region(region)
            default:
                throw SpecificationError.invalidSpecification(
                    text: text, problem: "this source is not a part of the screen",
                    remedy: "display, display:OUTPUT or region:WxH+X+Y")
            }
        return try await WorkerThread.run(named: "source image") {
            guard !DesktopSession(environment: environment).isWayland else {
                throw SpecificationError.invalidSpecification(
                    text: text, problem: "the desktop shares its screens through its portal", remedy: "portal")
            }
            let bound = PixelSize(width: width, height: width)
            return try PNGWriter.bytes(
                DisplaySource.picture(of: area, fitting: bound, display: environment["DISPLAY"]))
        }
    }

    private static func width(_ text: String?, in range: ClosedRange<Int>) throws(SpecificationError) -> Int? {
        guard let text else { return nil }
        guard let width = Int(text), range.contains(width) else {
            throw .invalidSpecification(
                text: text, problem: "it is not a width from \(range.lowerBound) to \(range.upperBound)",
                remedy: "width=\(defaultWidth)")
        }
        return width
    }

    /// Ends the events when nothing can read them any more.
    private final class Owner: Sendable {
        let events: SourceEvents

        init(events: SourceEvents) { self.events = events }

        deinit { events.end() }
    }

    // MARK: The sources of events, each on a thread of its own

    private func watchScreens(_ events: SourceEvents) {
        let (desktop, display) = (DesktopSession(environment: environment).kind, environment["DISPLAY"])
        let listing = ScreenListing(desktop: desktop)
        guard desktop.hasX else { return events.send(.screens(listing)) }
        let send: @Sendable (Result<DisplayContents, CaptureError>) -> Void = { found in
            var listing = listing
            listing.show(found, named: display, on: desktop)
            events.send(.screens(listing))
        }
        let pictures = SourcePictures(
            display: display, fitting: PixelSize(width: width, height: width), showsScreen: !desktop.isWayland)
        do throws(CaptureError) {
            try pictures.start { event in
                switch event {
                case .contents(let contents): send(.success(contents))
                case .failure(let error): send(.failure(error))
                case .image(let subject, let image):
                    events.send(.image(subject.specification.description, image))
                }
            }
        } catch {
            send(.failure(error))
        }
        events.atEnd { pictures.cancel() }
    }

    private func watchCameras(_ events: SourceEvents) {
        if CameraDevice.requiresPermission {
            events.send(.cameras(CameraListing()))
        } else {
            follow(CameraDevice.lastingUpdates, to: events) { .cameras(CameraListing($0)) }
        }
        guard let camera else { return }
        let spec = camera.description
        report(spec, to: events) {
            guard case .camera(let name) = camera else { return }
            let source = try CameraSource(named: name, size: PixelSize(width: 640, height: 360), framesPerSecond: 10)
            source.add(
                FrameImages(fitting: PixelSize(width: width, height: width)) { events.send(.image(spec, $0)) })
            reportProblems(of: source, spec, to: events)
            try source.start()
            events.atEnd { source.stop() }
        }
    }

    private func watchSounds(_ events: SourceEvents) {
        let updates = { () throws(CaptureError) in
            try PulseSource.deviceUpdates(server: SoundListing.server(environment))
        }
        follow(updates, to: events) { .sounds(SoundListing($0)) }
        guard let microphone else { return }
        let spec = microphone.description
        report(spec, to: events) {
            guard let source = try microphone.open(environment: environment) else { return }
            source.add(PeakMeter { events.send(.level(spec, $0)) })
            reportProblems(of: source, spec, to: events)
            try source.start()
            events.atEnd { source.stop() }
        }
    }

    /// Sends an event for each list of devices.
    private func follow<Device>(
        _ updates: () throws(CaptureError) -> AsyncStream<Result<[Device], CaptureError>>, to events: SourceEvents,
        as event: @escaping @Sendable (Result<[Device], CaptureError>) -> SourceEvents.Event
    ) {
        do throws(CaptureError) {
            let updates = try updates()
            let task = Task {
                for await devices in updates { events.send(event(devices)) }
            }
            events.atEnd { task.cancel() }
        } catch {
            events.send(event(.failure(error)))
        }
    }

    private func reportProblems(of capture: any ObservableCapture, _ spec: String, to events: SourceEvents) {
        let news = capture.events
        let task = Task {
            for await event in news {
                switch event {
                case .failed(let error) where error.kind != .invalidFrame:
                    events.send(.problem(spec, CommandFailure(explaining: error)))
                case .interrupted(let interruption):
                    events.send(.problem(spec, CommandFailure(.unavailable, interruption.description)))
                default: break
                }
            }
        }
        events.atEnd { task.cancel() }
    }

    /// Calls `body`, and reports the reason if it throws.
    private func report(_ spec: String, to events: SourceEvents, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            events.send(.problem(spec, CommandFailure(explaining: error)))
        }
    }
}

extension SourcePictures.Subject {
    /// The SPEC of the source.
    fileprivate var specification: SourceSpecification {
        switch self {
        case .screen: .display(output: nil)
        case .output(let name): .display(output: name)
        case .window(let id): .window(.id(id))
        }
    }
}
