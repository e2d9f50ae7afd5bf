internal import Foundation
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The report of a receiver's script; screen_receiver.py describes its content.
struct ScreenReceiverReport: Decodable {
    struct Frame: Decodable {
        /// The time at which it appeared on the screen, by the monotonic clock, in milliseconds.
        let time: Double
        /// The change that it shows; nil if its squares contradict each other.
        let tick: Int?

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            time = try container.decode(Double.self)
            tick = TickCode.tick(of: try container.decode([Double].self).map { $0 > 126 })
        }
    }

    struct Sample: Decodable {
        let atMs: Double
        let frame: Int
        /// The number of its picture; nil if that is the frame's.
        let picture: Int?
    }

    struct Picture: Decodable {
        let picture: Int
        let file: String
        let width: Int
        let height: Int

        /// Returns the frame itself, without colors.
        func read(in folder: String) throws -> PixelBuffer {
            let luma = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
            guard width > 0, height > 0, luma.count == width * height else {
                throw BenchmarkFailure("\(file) has \(luma.count) bytes, and not \(width) by \(height)")
            }
            return PixelBuffer(size: PixelSize(width: width, height: height), format: .i420) { planes, strides in
                luma.withUnsafeBytes { bytes in
                    for row in 0..<height {
                        UnsafeMutableRawBufferPointer(
                            rebasing: planes[0][row * strides[0]..<row * strides[0] + width]
                        ).copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: bytes[row * width..<(row + 1) * width]))
                    }
                }
                for plane in planes[1...] { _ = plane.initializeMemory(as: UInt8.self, repeating: 128) }
            }
        }
    }

    struct Statistics: Decodable {
        let atMs: Double
        /// The number of bytes that the transport has received.
        let bytes: Double
        let inbound: Inbound?
    }

    /// The members of inbound-rtp of getStats that are reported; receivers lack some.
    struct Inbound: Decodable {
        let framesDropped: Double?
        let keyFramesDecoded: Double?
        let freezeCount: Double?
        let jitterBufferDelay: Double?
        let jitterBufferEmittedCount: Double?
        let pliCount: Double?
        let nackCount: Double?
        let packetsLost: Double?
        let retransmittedPacketsReceived: Double?
    }

    let receiver: String
    let error: String?
    let width: Int?
    let height: Int?
    let frames: [Frame]?
    let replacedFrames: Int?
    let samples: [Sample]?
    let pictures: [Picture]
    let stats: [Statistics]?
    /// The time at which the receiver opened the sender's page; nil without one.
    let openedMs: Double?

    init(file: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    /// Returns the number of bytes that had arrived by a time of the same clock, interpolated between two reports.
    func bytes(at time: Double) -> Double {
        let stats = stats ?? []
        guard let after = stats.firstIndex(where: { $0.atMs >= time }) else { return stats.last?.bytes ?? 0 }
        guard after > 0 else { return stats[0].bytes }
        let (earlier, later) = (stats[after - 1], stats[after])
        let share = (time - earlier.atMs) / max(0.001, later.atMs - earlier.atMs)
        return earlier.bytes + share * (later.bytes - earlier.bytes)
    }
}
