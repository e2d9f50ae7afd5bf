import RTCShareVideoCoding

extension VideoEncoder {
    /// Changes settings of the running encoder.
    func update(_ change: (inout Settings) -> Void) {
        var settings = settings
        change(&settings)
        apply(settings)
    }
}
