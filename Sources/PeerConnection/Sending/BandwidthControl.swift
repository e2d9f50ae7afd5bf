internal import CongestionControl
internal import WireFormat

/// What the path carries, and how it is divided among this side's media.
struct BandwidthControl {
    var allocator = BitrateAllocator()
    /// What all media together may send, headers among it.
    private(set) var target: DataRate
    /// A media began, ended or wants another rate since it was divided.
    var isAllocationDue = true
    /// What it was divided by last.
    var allocated: (target: DataRate, isQueueFull: Bool)?

    init(_ configuration: PeerConnection.Configuration) {
        target = configuration.maximumBitrate
    }
}
