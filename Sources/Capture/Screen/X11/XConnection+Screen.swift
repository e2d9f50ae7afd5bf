import RTCShareCXCB
import RTCShareMedia

extension XConnection {
    /// Returns the screen's current size; nil if `signal` was raised.
    func screenSize(signal: StopSignal?) throws(CaptureError) -> PixelSize? {
        let cookie = xcb_get_geometry(handle, root)
        guard
            let reply = try reply("GetGeometry", cookie.sequence, as: xcb_get_geometry_reply_t.self, signal: signal)
        else { return nil }
        return PixelSize(width: Int(reply.value.width), height: Int(reply.value.height))
    }

    /// Returns whether the server is XWayland: since 23.1 it has an extension for that, before it had special monitor
    /// names.
    func isXWayland() throws(CaptureError) -> Bool {
        let name = "XWAYLAND"
        let cookie = xcb_query_extension(handle, UInt16(name.utf8.count), name)
        let answer = try reply(
            "QueryExtension", cookie.sequence, as: xcb_query_extension_reply_t.self, signal: nil)
        if let answer, answer.value.present != 0 { return true }
        return try outputs(signal: nil)?.contains { $0.name.hasPrefix(name) } ?? false
    }

    /// Returns the monitors, primary first; empty if the server has no RandR 1.5. Nil if `signal` was raised.
    func outputs(
        signal: StopSignal?, withProductNames: Bool = false
    ) throws(CaptureError) -> [DisplayOutput]? {
        guard let randr = cxcb_randr_extension(handle), randr.pointee.present != 0 else { return [] }
        let version = xcb_randr_query_version(handle, 1, 5)
        guard
            let answer = try reply(
                "RRQueryVersion", version.sequence, as: xcb_randr_query_version_reply_t.self, signal: signal)
        else { return nil }
        guard (answer.value.major_version, answer.value.minor_version) >= (1, 5) else { return [] }
        let cookie = xcb_randr_get_monitors(handle, root, 1)
        guard
            let monitors = try reply(
                "RRGetMonitors", cookie.sequence, as: xcb_randr_get_monitors_reply_t.self, signal: signal)
        else { return nil }
        let identification = withProductNames ? try self.atom("EDID") : nil
        var outputs: [DisplayOutput] = []
        var iterator = xcb_randr_get_monitors_monitors_iterator(monitors.pointer)
        while iterator.rem > 0, let monitor = iterator.data?.pointee {
            guard let name = try atomName(monitor.name, signal: signal) else { return nil }
            let area = PixelRectangle(
                x: Int(monitor.x), y: Int(monitor.y),
                size: PixelSize(width: Int(monitor.width), height: Int(monitor.height)))
            var productName: String?
            // A monitor can consist of several outputs, like some of 5120 columns.
            if let identification, let first = xcb_randr_monitor_info_outputs(iterator.data),
                xcb_randr_monitor_info_outputs_length(iterator.data) > 0
            {
                productName = try self.productName(of: first.pointee, identification, signal: signal)
            }
            outputs.append(
                DisplayOutput(name: name, productName: productName, area: area, isPrimary: monitor.primary != 0))
            xcb_randr_monitor_info_next(&iterator)
        }
        return outputs.filter(\.isPrimary) + outputs.filter { !$0.isPrimary }
    }

    /// Returns the product name that an output's monitor reports; nil if it reports none, or is gone.
    private func productName(
        of output: xcb_randr_output_t, _ identification: xcb_atom_t, signal: StopSignal?
    ) throws(CaptureError) -> String? {
        // A block of 128 bytes, in units of four.
        let cookie = xcb_randr_get_output_property(handle, output, identification, 0, 0, 32, 0, 0)
        do throws(CaptureError) {
            guard
                let reply = try reply(
                    "RRGetOutputProperty", cookie.sequence, as: xcb_randr_get_output_property_reply_t.self,
                    signal: signal)
            else { return nil }
            let bytes = UnsafeBufferPointer(
                start: xcb_randr_get_output_property_data(reply.pointer),
                count: Int(xcb_randr_get_output_property_data_length(reply.pointer)))
            return MonitorIdentification.productName(Array(bytes))
        } catch {
            guard case .requestRefused = error else { throw error }
            return nil
        }
    }

    private func atomName(_ atom: xcb_atom_t, signal: StopSignal?) throws(CaptureError) -> String? {
        let cookie = xcb_get_atom_name(handle, atom)
        guard
            let reply = try reply("GetAtomName", cookie.sequence, as: xcb_get_atom_name_reply_t.self, signal: signal)
        else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: xcb_get_atom_name_name(reply.pointer), count: Int(xcb_get_atom_name_name_length(reply.pointer)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether the server has XFixes, which must be queried before its use; false if `signal` was raised.
    func queryXFixes(signal: StopSignal?) throws(CaptureError) -> Bool {
        guard let xfixes = cxcb_xfixes_extension(handle), xfixes.pointee.present != 0 else { return false }
        let cookie = xcb_xfixes_query_version(handle, 4, 0)
        return try reply(
            "XFixesQueryVersion", cookie.sequence, as: xcb_xfixes_query_version_reply_t.self, signal: signal) != nil
    }

    /// Watches changes of the screen's size and the monitors. Returns the types of their events.
    func watchGeometry() -> EventTypes {
        var mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
        xcb_change_window_attributes(handle, root, XCB_CW_EVENT_MASK.rawValue, &mask)
        var types = EventTypes()
        types.insert(UInt8(XCB_CONFIGURE_NOTIFY))
        if let randr = cxcb_randr_extension(handle), randr.pointee.present != 0 {
            let changes =
                XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE.rawValue
                | XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE.rawValue
            xcb_randr_select_input(handle, root, UInt16(changes))
            types.insert(randr.pointee.first_event &+ UInt8(XCB_RANDR_SCREEN_CHANGE_NOTIFY))
            types.insert(randr.pointee.first_event &+ UInt8(XCB_RANDR_NOTIFY))
        }
        xcb_flush(handle)
        return types
    }
}
