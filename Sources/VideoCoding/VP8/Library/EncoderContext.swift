internal import RTCShareCVPX
internal import RTCShareMedia

/// The owner of a libvpx encoder handle, the only place where libvpx's codes become errors.
final class EncoderContext {
    private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
    /// The number of macroblocks in a row, and the number of rows.
    private let (columns, rows): (Int, Int)
    /// The last applied configuration.
    private var applied: VP8Encoder.Configuration
    /// The macroblocks that libvpx codes; nil for all.
    private(set) var activeMap: MacroblockMap?
    /// The maximum fraction of the frame in an active map. libvpx gains little if the map excludes less.
    private static let largestShare = 0.5

    init(_ configuration: VP8Encoder.Configuration) throws(VideoCodingError) {
        try configuration.validate()
        columns = (configuration.size.width + 15) / 16
        rows = (configuration.size.height + 15) / 16
        applied = configuration
        var config = try configuration.makeLibraryConfiguration()
        context = .allocate(capacity: 1)
        context.initialize(to: vpx_codec_ctx_t())
        let code = cvpx_enc_init(context, &config)
        guard code == VPX_CODEC_OK else {
            // From here on `deinit` frees the handle.
            throw .codecFailed(
                library: "libvpx", operation: "making an encoder of \(configuration.size)", reason: reason(code))
        }
        for (name, control, value) in configuration.controls { try self.control(name, control, value) }
    }

    deinit {
        // For a handle that was never opened, this only returns an error.
        vpx_codec_destroy(context)
        context.deallocate()
    }

    /// Applies new settings to the running encoder.
    private func apply(_ configuration: VP8Encoder.Configuration) throws(VideoCodingError) {
        try configuration.validate()
        var config = try configuration.makeLibraryConfiguration()
        try check("changing the configuration", vpx_codec_enc_config_set(context, &config))
        for (name, control, value) in configuration.controls { try self.control(name, control, value) }
        applied = configuration
    }

    /// Applies these settings from the next frame on, with another quantizer, 0 to 63, and speed.
    func use(
        _ configuration: VP8Encoder.Configuration, quantizer: Int, speed: Int? = nil
    ) throws(VideoCodingError) {
        var wanted = configuration
        wanted.speed = speed ?? configuration.speed
        wanted.minimumQuantizer = quantizer
        wanted.maximumQuantizer = quantizer
        if wanted != applied { try apply(wanted) }
    }

    func control(_ name: String, _ control: vp8e_enc_control_id, _ value: Int32) throws(VideoCodingError) {
        try check("setting the \(name) to \(value)", cvpx_control_int(context, Int32(control.rawValue), value))
    }

    /// Sets the macroblocks that are coded from the next frame on; nil for all.
    func use(_ map: MacroblockMap?) throws(VideoCodingError) {
        let map = map.flatMap { $0.share <= Self.largestShare ? $0 : nil }
        guard map != activeMap else { return }
        try setActiveMap(map)
        activeMap = map
    }

    private func setActiveMap(_ map: MacroblockMap?) throws(VideoCodingError) {
        guard let map else {
            // libvpx requires the size in any case.
            var all = vpx_active_map_t(active_map: nil, rows: UInt32(rows), cols: UInt32(columns))
            return try check("lifting the active map", cvpx_set_active_map(context, &all))
        }
        let code = map.cells.withUnsafeBufferPointer { cells in
            // libvpx copies the map.
            var active = vpx_active_map_t(
                active_map: UnsafeMutablePointer(mutating: cells.baseAddress), rows: UInt32(map.rows),
                cols: UInt32(map.columns))
            return cvpx_set_active_map(context, &active)
        }
        try check("setting the active map", code)
    }

    /// Returns the quantizer index in the last frame's header, 0 to 127.
    func lastQuantizer() throws(VideoCodingError) -> Int {
        var value: Int32 = 0
        try check(
            "reading the quantizer", cvpx_control_get_int(context, Int32(VP8E_GET_LAST_QUANTIZER.rawValue), &value))
        return Int(value)
    }

    /// Encodes a frame; nil if the rate control dropped it.
    func encode(
        _ picture: any PixelPlanes, time: (ticks: Int, duration: Int), flags: Int
    ) throws(VideoCodingError) -> (data: [UInt8], isKeyFrame: Bool)? {
        let context = context
        let size = picture.size
        let code = try picture.withPlanePointers { (planes) throws(VideoCodingError) -> vpx_codec_err_t in
            var image = vpx_image_t()
            let first = UnsafeMutablePointer(mutating: planes.first.first)
            guard vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(size.width), UInt32(size.height), 1, first) != nil
            else { throw .codecFailed(library: "libvpx", operation: "wrapping a frame of \(size)", reason: "refused") }
            cvpx_set_plane(&image, VPX_PLANE_Y, planes.first.first, planes.first.stride)
            cvpx_set_plane(&image, VPX_PLANE_U, planes.second.first, planes.second.stride)
            cvpx_set_plane(&image, VPX_PLANE_V, planes.third.first, planes.third.stride)
            return vpx_codec_encode(
                context, &image, Int64(time.ticks), UInt(time.duration), vpx_enc_frame_flags_t(flags),
                UInt(VPX_DL_REALTIME))
        }
        try check("encoding", code)
        var iterator: vpx_codec_iter_t?
        while let packet = vpx_codec_get_cx_data(context, &iterator) {
            guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
            let frame = packet.pointee.data.frame
            guard let bytes = frame.buf, frame.sz > 0 else { continue }
            return (
                Array(UnsafeRawBufferPointer(start: bytes, count: frame.sz)),
                frame.flags & UInt32(VPX_FRAME_IS_KEY) != 0
            )
        }
        return nil
    }

    /// Copies a reference frame of the encoder.
    func copy(_ reference: ReferenceFrame, to picture: ReferencePicture) throws(VideoCodingError) {
        try check("copying the \(reference) frame", try picture.copy(reference, of: context))
    }

    /// Sets a reference frame for the next frame.
    ///
    /// libvpx overwrites the buffer. If other references are in the same buffer, as after a key frame, they change with
    /// it. A decoder must update them as well: see ``ReferenceUpdates``.
    func set(_ reference: ReferenceFrame, to picture: ReferencePicture) throws(VideoCodingError) {
        try check("setting the \(reference) frame", try picture.set(reference, of: context))
    }

    private func check(_ operation: @autoclosure () -> String, _ code: vpx_codec_err_t) throws(VideoCodingError) {
        guard code != VPX_CODEC_OK else { return }
        let detail = vpx_codec_error_detail(context).map { ": " + String(cString: $0) } ?? ""
        throw .codecFailed(library: "libvpx", operation: operation(), reason: reason(code) + detail)
    }
}
