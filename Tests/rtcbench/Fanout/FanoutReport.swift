internal import Foundation

/// What one run of `rtcbench fanout` found.
struct FanoutReport: Codable {
    /// A room of so many viewers.
    struct Stage: Codable {
        let viewers: Int
        /// Share of a processor that the sending process used.
        let processorShare: Double
        /// The kernel's part of that.
        let kernelShare: Double
        /// How many viewers one processor would carry at that cost.
        let viewersPerCore: Int
        let packetsPerSecond: Int
        /// Microseconds of processor time a packet, everything in it.
        let microsecondsPerPacket: Double
        let packetsLost: Int
        let packetsForged: Int
        /// From a frame's being handed on to its last packet's arrival, in milliseconds.
        let delay50: Double
        let delay95: Double
        let delayMost: Double
        /// What the whole process has in memory, in bytes.
        let residentBytes: Int
        let connectionsFailed: Int
        /// Frames that were not handed to a connection whose queue was full, of all.
        let withheldShare: Double
        /// The least that any connection's encoder was told, kbit/s.
        let leastTarget: Int
        let viewersShare: Double
        /// How many of the viewers neither hear nor answer; what is counted are the others' packets.
        var dead = 0
        /// Packets a second that each of the others got.
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

    /// Microseconds a packet of a loop that does nothing else, in the same run.
    struct Floor: Codable {
        let protect: Double
        let send: Double
        let protectAndSend: Double
        /// With segmentation offload for packets of one frame to one viewer.
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
    /// Bytes a viewer, of the growth from the smallest room to the largest.
    let bytesPerViewer: Int
    /// Whole cost over protect and send alone, of the largest room.
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
