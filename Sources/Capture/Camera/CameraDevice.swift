internal import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo
public import RTCShareMedia

/// A camera that is connected to PipeWire.
public struct CameraDevice: Sendable, Hashable {
    /// PipeWire's permanent name of the camera.
    public let name: String
    /// The name for people.
    public let description: String
    /// The formats of the camera; at least one.
    public let formats: [CameraFormat]
    /// Whether it has a light that can be switched: ``CameraSource/setTorch(_:)``.
    public let hasTorch: Bool
    /// PipeWire's number of the camera while it is connected.
    let node: UInt32

    /// Returns the connected cameras. In a sandbox that blocks PipeWire, the desktop first asks the user for
    /// permission, and remembers the answer.
    public static func all() throws(CaptureError) -> [CameraDevice] {
        try CameraRegistry(CameraAccess.find()).devices()
    }

    /// Whether ``all()``, and any use of a camera, requires the user's permission, as in a sandbox.
    public static var requiresPermission: Bool { CameraAccess.requiresPermission }

    /// Returns the connected cameras, and again whenever one is connected or removed, until the stream is canceled or
    /// PipeWire has ended.
    public static func updates() throws(CaptureError) -> AsyncStream<[CameraDevice]> {
        try CameraRegistry.updates(by: CameraAccess.find())
    }

    /// Returns the connected cameras, and again whenever one is connected or removed, until the stream is canceled.
    /// A PipeWire that can't be reached, or has ended, is an error, and is tried again. The user is never asked.
    package static func lastingUpdates() throws(CaptureError) -> AsyncStream<Result<[CameraDevice], CaptureError>> {
        try CaptureThread.updates(failed: { .failure($0) }) { signal, tell throws(CaptureError) in
            try CameraRegistry.follow(by: .direct, until: signal) { tell(.success($0)) }
        }
    }

    /// Returns the camera with this name, or whose name for people contains it, in any case; without a name, the first.
    static func find(_ name: String?) throws(CaptureError) -> CameraDevice {
        let cameras = try all()
        guard let name else {
            guard let first = cameras.first else { throw .unknownCamera(name: nil, cameras: []) }
            return first
        }
        let found =
            cameras.first { $0.name == name }
            ?? cameras.first { $0.description.folded.contains(name.folded) }
        guard let found else { throw .unknownCamera(name: name, cameras: cameras) }
        return found
    }

    init(name: String, description: String, formats: [CameraFormat], hasTorch: Bool = false, node: UInt32) {
        (self.name, self.description, self.formats) = (name, description, formats)
        (self.hasTorch, self.node) = (hasTorch, node)
    }

    /// Creates a camera; nil if it has no supported format.
    init?(_ camera: pipewire_camera) {
        let formats = UnsafeBufferPointer(start: camera.formats, count: Int(camera.format_count))
        guard !formats.isEmpty else { return nil }
        self.formats = formats.map { CameraFormat($0) }
        node = camera.node
        hasTorch = camera.has_light
        name = withUnsafeBytes(of: camera.name) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
        description = withUnsafeBytes(of: camera.description) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
    }

    /// Returns the formats, sorted by their distance from a size and a rate: first by the size, then by the rate, then
    /// formats that need no decompression.
    func formats(nearestTo size: PixelSize, framesPerSecond: Double) -> [CameraFormat] {
        func distance(_ format: CameraFormat) -> Double {
            let sizes = abs(log2(Double(format.size.area) / Double(max(1, size.area))))
            let missing = max(0, framesPerSecond - format.framesPerSecond) / framesPerSecond
            return sizes + missing * 2 + (format.pixels == .mjpeg ? 0.01 : 0)
        }
        return formats.map { ($0, distance($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Returns the format that is nearest to a size and a rate, with all of its rates.
    public func format(nearestTo size: PixelSize, framesPerSecond: Double) -> CameraFormat {
        formats(nearestTo: size, framesPerSecond: framesPerSecond)[0]
    }
}

extension String {
    /// Creates the text before the first zero.
    init(nullTerminated characters: some Sequence<CChar>) {
        self.init(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
