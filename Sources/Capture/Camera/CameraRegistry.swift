internal import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo

/// The cameras of a PipeWire, followed as they come and go. Used on one thread at a time.
final class CameraRegistry {
    private let handle: OpaquePointer
    /// PipeWire answers within this time.
    private static let patience = Duration.seconds(3)

    init(_ access: CameraAccess) throws(CaptureError) {
        var problem = [CChar](repeating: 0, count: 256)
        guard let handle = pipewire_cameras_open(try access.openRemote(), &problem, problem.count) else {
            throw .camerasUnavailable(reason: String(nullTerminated: problem))
        }
        self.handle = handle
    }

    deinit {
        pipewire_cameras_close(handle)
    }

    /// Can be read when ``update()`` has something to take in.
    var descriptor: Int32 { pipewire_cameras_descriptor(handle) }

    /// Takes in what has come: the cameras that there are, nil while that isn't known.
    func update() throws(CaptureError) -> [CameraDevice]? {
        guard pipewire_cameras_update(handle) else {
            throw .camerasUnavailable(reason: String(cString: pipewire_cameras_problem(handle)))
        }
        guard pipewire_cameras_are_complete(handle) else { return nil }
        return (0..<pipewire_cameras_count(handle)).compactMap { index in
            pipewire_cameras_get(handle, index).flatMap { CameraDevice($0.pointee) }
        }
    }

    /// The cameras that there are.
    func devices() throws(CaptureError) -> [CameraDevice] {
        let deadline = monotonicNow() + Self.patience
        while true {
            if let devices = try update() { return devices }
            let left = deadline - monotonicNow()
            guard left > .zero else { throw .camerasUnavailable(reason: "it doesn't answer") }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, left.wholeMilliseconds + 1)
        }
    }

    /// Switches a camera's light.
    func setTorch(_ isEnabled: Bool, of device: CameraDevice) throws(CaptureError) {
        let isThere = try devices().contains { $0.node == device.node }
        guard isThere, pipewire_cameras_set_light(handle, device.node, isEnabled) else {
            throw .torchUnavailable(camera: device.description, reason: nil)
        }
        _ = try devices()
        let problem = String(cString: pipewire_cameras_light_problem(handle))
        if !problem.isEmpty { throw .torchUnavailable(camera: device.description, reason: problem) }
    }

    /// The cameras that there are, and anew whenever one comes or goes, until whoever listens ends it or PipeWire is gone.
    static func updates(by access: CameraAccess) throws(CaptureError) -> AsyncStream<[CameraDevice]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [CameraDevice].self, bufferingPolicy: .bufferingNewest(1))
        let thread = CaptureThread()
        try thread.start { signal in
            try? follow(by: access, until: signal) { continuation.yield($0) }
            continuation.finish()
        }
        // Whoever listened holds a lock of its task meanwhile, which the thread may need for its end.
        continuation.onTermination = { _ in thread.cancel() }
        return stream
    }

    private static func follow(
        by access: CameraAccess, until signal: StopSignal, tell: ([CameraDevice]) -> Void
    ) throws(CaptureError) {
        let registry = try CameraRegistry(access)
        var known: [CameraDevice]?
        while !signal.isRaised {
            if let found = try registry.update(), found != known {
                known = found
                tell(found)
            }
            _ = signal.wait(readable: registry.descriptor, until: nil)
        }
    }
}
