import RTCShareCPulse

extension PulseSession {
    /// Counts changes in ``deviceChanges`` from now on. Returns false if the signal was raised.
    func watchDevices() throws(CaptureError) -> Bool {
        pa_context_set_subscribe_callback(
            context,
            { _, event, _, pointer in
                let type = event.rawValue & PA_SUBSCRIPTION_EVENT_TYPE_MASK.rawValue
                let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
                // A change of a device, as of its volume, does not change its identity.
                let isNews =
                    facility == PA_SUBSCRIPTION_EVENT_SERVER.rawValue
                    || type != PA_SUBSCRIPTION_EVENT_CHANGE.rawValue
                guard isNews, let pointer else { return }
                Unmanaged<PulseSession>.fromOpaque(pointer).takeUnretainedValue().deviceDidChange()
            }, Unmanaged.passUnretained(self).toOpaque())
        let facilities = pa_subscription_mask_t(
            PA_SUBSCRIPTION_MASK_SERVER.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
                | PA_SUBSCRIPTION_MASK_SINK.rawValue)
        return try finish(pa_context_subscribe(context, facilities, nil, nil))
    }

    /// Returns the server's devices; nil if the signal was raised.
    func devices() throws(CaptureError) -> PulseDevices? {
        let answer = Answer()
        defer { withExtendedLifetime(answer) {} }
        let pointer = Unmanaged.passUnretained(answer).toOpaque()
        let names = pa_context_get_server_info(
            context,
            { _, info, pointer in
                guard let info = info?.pointee, let answer = Answer.at(pointer) else { return }
                answer.devices.defaultSource = info.default_source_name.map { String(cString: $0) }
                answer.devices.defaultSink = info.default_sink_name.map { String(cString: $0) }
            }, pointer)
        guard try finish(names) else { return nil }
        let sources = pa_context_get_source_info_list(
            context,
            { _, info, _, pointer in
                guard let info = info?.pointee, let name = info.name else { return }
                // PA_INVALID_INDEX: it does not record a sink.
                Answer.at(pointer)?.devices.sources.append(
                    PulseDevice(
                        name: String(cString: name), description: info.description.map { String(cString: $0) } ?? "",
                        monitor: nil, isMonitor: info.monitor_of_sink != UInt32.max))
            }, pointer)
        guard try finish(sources) else { return nil }
        let sinks = pa_context_get_sink_info_list(
            context,
            { _, info, _, pointer in
                guard let info = info?.pointee, let name = info.name, let monitor = info.monitor_source_name
                else { return }
                Answer.at(pointer)?.devices.sinks.append(
                    PulseDevice(
                        name: String(cString: name), description: info.description.map { String(cString: $0) } ?? "",
                        monitor: String(cString: monitor)))
            }, pointer)
        return try finish(sinks) ? answer.devices : nil
    }

    /// The results of callbacks, kept by the thread as long as the requests run.
    private final class Answer {
        var devices = PulseDevices()

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Answer? {
            pointer.map { Unmanaged<Answer>.fromOpaque($0).takeUnretainedValue() }
        }
    }
}
