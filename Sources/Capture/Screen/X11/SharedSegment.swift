import RTCShareCXCB

/// Memory into which the X server writes screen pixels, mapped on both sides.
///
/// The server gets its descriptor (MIT-SHM 1.2). The number of a System V segment could mean the memory of another
/// program there, if the server runs outside of this program's container.
final class SharedSegment {
    /// The server's identifier of the segment.
    let identifier: xcb_shm_seg_t
    /// The pixels.
    let memory: UnsafeMutableRawBufferPointer
    private let connection: XConnection

    /// Creates a segment of `byteCount`; nil if the server can't share memory with this process, for example over a
    /// network.
    init?(connection: XConnection, byteCount: Int) throws(CaptureError) {
        guard let shm = cxcb_shm_extension(connection.handle), shm.pointee.present != 0,
            cxcb_takes_descriptors(connection.handle)
        else { return nil }
        var descriptor: Int32 = -1
        guard let address = cxcb_memory_create(byteCount, &descriptor) else { return nil }
        let identifier = xcb_generate_id(connection.handle)
        // This closes the descriptor.
        let attach = xcb_shm_attach_fd_checked(connection.handle, identifier, descriptor, 0)
        var isAttached = false
        defer { if !isAttached { cxcb_memory_release(address, byteCount) } }
        guard try connection.check(attach) else { return nil }
        isAttached = true
        self.identifier = identifier
        self.memory = UnsafeMutableRawBufferPointer(start: address, count: byteCount)
        self.connection = connection
    }

    deinit {
        xcb_shm_detach(connection.handle, identifier)
        xcb_flush(connection.handle)
        cxcb_memory_release(memory.baseAddress, memory.count)
    }
}
