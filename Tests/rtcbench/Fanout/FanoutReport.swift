internal import Foundation

/// The results of `rtcbench fanout`.
struct FanoutReport: Codable {
    /// The results of a room with so many viewers.
    struct Stage: Codable {
        let viewers: Int
        /// The share of a processor that the sending process used.
        let processorShare: Double
        /// The kernel's part of that.
        let kernelShare: Double
        /// The number of viewers for one processor at that cost.
        let viewersPerCore: Int
        let packetsPerSecond: Int
        /// The total processor time per packet in microseconds.
        let microsecondsPerPacket: Double
        let packetsLost: Int
        let packetsForged: Int
        /// The delay from the sending of a frame to its last packet's arrival, in milliseconds.
        let delay50: Double
        let delay95: Double
        let delayMost: Double
        /// The resident memory of the process in bytes.
        let residentBytes: Int
        let connectionsFailed: Int
        /// The fraction of frames that were withheld from a connection because its queue was full.
        let withheldShare: Double
        /// The lowest target bitrate of a connection, in kbit/s.
        let leastTarget: Int
        let viewersShare: Double
        /// The number of viewers that neither receive nor answer; only the others' packets are counted.
        var dead = 0
        /// The number of packets per second of each of the others.
        var packetsPerViewer: Double { Double(packetsPerSecond) / Double(max(1, viewers - dead)) }

        static let heading =
            "viewers  packets/s  each   core  kernel  us/packet  viewers/core  lost  withheld  frame in to last packet at the viewer, ms"

        var row: String {
            String(
                format:
                    "%7d  %9d  %4.1f  %5.3f  %6.3f  %9.2f  %12d  %4d  %7.1f%%  50%%: %.1f  95%%: %.1f  most: %.1f%@",
                viewers, packetsPerSecond, packetsPerViewer, processorShare, kernelShare, microsecondsPerPacket,
                viewersPerCore,
                packetsLost, withheldShare * 100, delay50, delay95, delayMost,
                dead == 0 ? "" : ", with \(dead) dead")
        }
    }

    /// The microseconds per packet of a loop that does nothing else, in the same run.
    struct Floor: Codable {
        let protect: Double
        let send: Double
        let protectAndSend: Double
        /// With segmentation offload for the packets of one frame to one viewer.
        let protectAndSendSegmented: Double
        let refused: Int
    }

    let machine: String
    let kilobitsPerSecond: Int
    let seconds: Double
    let stages: [Stage]
    /// The last room with a dead viewer in it.
    let withDead: Stage
    let floor: Floor
    /// The memory per viewer in bytes, from the growth between the smallest and the largest room.
    let bytesPerViewer: Int
    /// The total cost divided by that of protect and send, for the largest room.
    let ratio: Double

    var table: String {
        var lines = ["\(machine), \(kilobitsPerSecond) kbit/s, \(seconds) s a room"]
        lines.append(Stage.heading)
        lines += (stages + [withDead]).map(\.row)
        if let stage = stages.last {
            let rest = stage.microsecondsPerPacket - floor.protect - floor.send
            lines.append(
                String(
                    format: "of a packet's %.2f us at %d viewers: SRTP %.2f, UDP send %.2f, the rest %.2f "
                        + "(the first two timed alone)", stage.microsecondsPerPacket, stage.viewers, floor.protect,
                    floor.send, rest))
            lines.append(
                String(
                    format:
                        "libsrtp2's protect + UDP send alone: %.2f us with sendmmsg, %.2f us with GSO; ours over it: "
                        + "%.2f and %.2f", floor.protectAndSend, floor.protectAndSendSegmented,
                    stage.microsecondsPerPacket / floor.protectAndSend,
                    stage.microsecondsPerPacket / floor.protectAndSendSegmented))
            lines.append(
                String(
                    format: "memory: %.1f KiB a viewer beyond the smallest room; forged: %d; connections failed: %d; "
                        + "least target %d kbit/s; viewers' processor %.2f", Double(bytesPerViewer) / 1024,
                    stage.packetsForged, stage.connectionsFailed, stage.leastTarget, stage.viewersShare))
        }
        return lines.joined(separator: "\n")
    }
}
