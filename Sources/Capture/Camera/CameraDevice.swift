internal import FoundationEssentials
internal import Glibc
import RTCShareCPipeWireVideo
public import RTCShareMedia

/// A camera that PipeWire has.
public struct CameraDevice: Sendable, Hashable {
    /// PipeWire's name for it, which stays the same.
    public let name: String
    /// Its name for people.
    public let description: String
    /// What it can give; at least one.
    public let formats: [CameraFormat]
    /// Whether it has a light that can be switched: ``CameraSource/setTorch(_:)``.
    public let hasTorch: Bool
    /// Its number while it is there.
    let node: UInt32

    /// The cameras that there are at this moment. In a sandbox that keeps PipeWire from programs, the desktop asks its person
    /// first whether this one may use them, and remembers the answer.
    public static func all() throws(CaptureError) -> [CameraDevice] {
        try CameraRegistry(CameraAccess.find()).devices()
    }

    /// Whether ``all()``, and whatever uses a camera, has the desktop ask its person: so it is in a sandbox.
    public static var requiresPermission: Bool { CameraAccess.requiresPermission }

    /// The cameras that there are, and anew whenever one comes or goes, until whoever listens ends it or PipeWire is gone.
    public static func updates() throws(CaptureError) -> AsyncStream<[CameraDevice]> {
        try CameraRegistry.updates(by: CameraAccess.find())
    }

    /// The one of this name, or whose name for people has it in it, whatever the capitals; without a name, the first.
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

    /// Nil for one of which nothing can be read.
    init?(_ camera: pipewire_camera) {
        let formats = UnsafeBufferPointer(start: camera.formats, count: Int(camera.format_count))
        guard !formats.isEmpty else { return nil }
        self.formats = formats.map { CameraFormat($0) }
        node = camera.node
        hasTorch = camera.has_light
        name = withUnsafeBytes(of: camera.name) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
        description = withUnsafeBytes(of: camera.description) { String(nullTerminated: $0.bindMemory(to: CChar.self)) }
    }

    /// The formats, from the one on that comes nearest to a size and a rate: a picture of about the size, then as many a
    /// second, then one that need not be decompressed.
    func formats(nearestTo size: PixelSize, framesPerSecond: Double) -> [CameraFormat] {
        func distance(_ format: CameraFormat) -> Double {
            let sizes = abs(log2(Double(format.size.area) / Double(max(1, size.area))))
            let missing = max(0, framesPerSecond - format.framesPerSecond) / framesPerSecond
            return sizes + missing * 2 + (format.pixels == .mjpeg ? 0.01 : 0)
        }
        return formats.map { ($0, distance($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// The format that comes nearest to a size and a rate, with all the rates that it has.
    public func format(nearestTo size: PixelSize, framesPerSecond: Double) -> CameraFormat {
        formats(nearestTo: size, framesPerSecond: framesPerSecond)[0]
    }
}

extension String {
    /// The text before the first zero.
    init(nullTerminated characters: some Sequence<CChar>) {
        self.init(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
