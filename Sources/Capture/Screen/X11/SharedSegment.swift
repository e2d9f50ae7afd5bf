import RTCShareCXCB

/// Memory into which the X server writes screen pixels: a System V segment, attached on both sides.
final class SharedSegment {
    /// The server's identifier of the segment.
    let identifier: xcb_shm_seg_t
    /// The pixels.
    let memory: UnsafeMutableRawBufferPointer
    private let connection: XConnection

    /// Creates a segment of `byteCount`; nil if the server can't share memory with this process, for example over a
    /// network.
    init?(connection: XConnection, byteCount: Int) throws(CaptureError) {
        guard let shm = cxcb_shm_extension(connection.handle), shm.pointee.present != 0 else { return nil }
        var system: Int32 = 0
        guard let address = cxcb_segment_create(byteCount, &system) else { return nil }
        let identifier = xcb_generate_id(connection.handle)
        let attach = xcb_shm_attach_checked(connection.handle, identifier, UInt32(bitPattern: system), 0)
        var isAttached = false
        defer { if !isAttached { shmdt(address) } }
        // Both sides have mapped it, or it is useless: in either case it must not outlive this process.
        defer { cxcb_segment_forget(system) }
        guard try connection.check(attach) else { return nil }
        isAttached = true
        self.identifier = identifier
        self.memory = UnsafeMutableRawBufferPointer(start: address, count: byteCount)
        self.connection = connection
    }

    deinit {
        xcb_shm_detach(connection.handle, identifier)
        xcb_flush(connection.handle)
        shmdt(memory.baseAddress)
    }
}
