internal import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo

/// The cameras of a PipeWire daemon, kept current as they are connected and removed. Used on one thread at a time.
final class CameraRegistry {
    private let handle: OpaquePointer
    /// The timeout for PipeWire's answers.
    private static let patience = Duration.seconds(3)
    private static let silence = CaptureError.camerasUnavailable(reason: "it doesn't answer")

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

    /// A descriptor that is readable when there is work for ``update()``.
    var descriptor: Int32 { pipewire_cameras_descriptor(handle) }

    /// Processes the daemon's messages. Returns the cameras, or nil while they are not known.
    func update() throws(CaptureError) -> [CameraDevice]? {
        guard pipewire_cameras_update(handle) else {
            throw .camerasUnavailable(reason: String(cString: pipewire_cameras_problem(handle)))
        }
        guard pipewire_cameras_are_complete(handle) else { return nil }
        return (0..<pipewire_cameras_count(handle)).compactMap { index in
            pipewire_cameras_get(handle, index).flatMap { CameraDevice($0.pointee) }
        }
    }

    /// Returns the connected cameras.
    func devices() throws(CaptureError) -> [CameraDevice] {
        let deadline = monotonicNow() + Self.patience
        while true {
            if let devices = try update() { return devices }
            let left = deadline - monotonicNow()
            guard left > .zero else { throw Self.silence }
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

    /// Returns the connected cameras, and again whenever one is connected or removed, until the stream is canceled or
    /// PipeWire has ended.
    static func updates(by access: CameraAccess) throws(CaptureError) -> AsyncStream<[CameraDevice]> {
        try CaptureThread.updates { signal, tell throws(CaptureError) in
            try follow(by: access, until: signal, tell: tell)
        }
    }

    /// Passes the connected cameras to `tell`, and again whenever one is connected or removed, until `signal` is raised.
    static func follow(
        by access: CameraAccess, until signal: StopSignal, tell: ([CameraDevice]) -> Void
    ) throws(CaptureError) {
        let registry = try CameraRegistry(access)
        var known: [CameraDevice]?
        let deadline = monotonicNow() + patience
        while !signal.isRaised {
            if let found = try registry.update(), found != known {
                known = found
                tell(found)
            }
            let outcome = signal.wait(readable: registry.descriptor, until: known == nil ? deadline : nil)
            if outcome == .timedOut { throw silence }
        }
    }
}
