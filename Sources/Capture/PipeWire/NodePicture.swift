import RTCShareCPipeWireVideo

/// A frame of a PipeWire node, in the node's memory, which is given back when this is released.
final class NodePicture {
    private let picture: pipewire_picture
    private let stream: NodeStream
    /// The frame of a desktop.
    let content: CastContent
    /// The frame's format, of a camera; nil for a desktop.
    let cameraFormat: CameraFormat?

    init(
        _ picture: pipewire_picture, _ format: pipewire_video_format, _ camera: pipewire_camera_format,
        of stream: NodeStream
    ) {
        self.picture = picture
        self.stream = stream
        content = CastContent(picture, format)
        cameraFormat = camera.width > 0 ? CameraFormat(camera) : nil
    }

    deinit {
        stream.giveBack(picture)
    }

    /// Calls `body` while its memory can't be removed. Returns nil if it was removed, as after a change of the format.
    func withMemory<Result>(_ body: () throws(CaptureError) -> Result) throws(CaptureError) -> Result? {
        try stream.locked { () throws(CaptureError) in stream.has(picture) ? try body() : nil }
    }

    /// The frame of a camera, and the bytes from row to row: zero if the camera does not report that. Nil if there is
    /// no frame.
    var bytes: (UnsafeRawBufferPointer, stride: Int)? {
        picture.bytes.map {
            (UnsafeRawBufferPointer(start: $0, count: Int(picture.byte_count)), Int(picture.stride))
        }
    }
}
