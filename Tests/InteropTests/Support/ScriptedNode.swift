import Foundation
import RTCShareMedia
import Testing
import VideoNode

@testable import RTCShareCapture

/// A node of PipeWire that gives what a test tells it to: a camera, or what a desktop gives of a screen.
final class ScriptedNode: Sendable {
    // The C locks within each of its functions, and the pointer lives as long as this object.
    nonisolated(unsafe) private let node: OpaquePointer

    /// A node of the PipeWire on a desktop. `rates` are those of each format.
    init(
        _ name: String, on desktop: WaylandDesktop, isCamera: Bool = true, hasLight: Bool = false,
        _ formats: [video_node_format]
    ) throws {
        let made = video_node_create(desktop.pipeWireSocket, name, isCamera, hasLight, formats, UInt32(formats.count))
        node = try #require(made, "\(name) can't be made")
    }

    deinit {
        video_node_destroy(node)
    }

    /// A format with these rates.
    static func format(
        _ pixels: video_node_pixels, _ size: PixelSize, rates: [UInt32] = [30], needsDMABUF: Bool = false
    ) -> video_node_format {
        var format = video_node_format()
        format.pixels = pixels
        (format.width, format.height) = (UInt32(size.width), UInt32(size.height))
        withUnsafeMutableBytes(of: &format.rates) { bytes in
            for (place, rate) in rates.enumerated() { bytes.bindMemory(to: UInt32.self)[place] = rate }
        }
        format.rate_count = UInt32(rates.count)
        format.needs_dmabuf = needsDMABUF
        return format
    }

    /// What PipeWire calls it, from when it is there.
    func id() async throws -> UInt32 {
        try await wait(for: "a node's number") { video_node_id(node) != .max }
        return video_node_id(node)
    }

    /// Returns when somebody takes its pictures, with what was agreed on.
    @discardableResult
    func streams() async throws -> video_node_format {
        try await wait(for: "a stream") { video_node_is_streaming(node) && video_node_can_map(node) }
        return agreed
    }

    var isStreaming: Bool { video_node_is_streaming(node) }
    /// What was agreed on.
    var agreed: video_node_format {
        var format = video_node_format()
        _ = video_node_get_format(node, &format)
        return format
    }
    var light: Int32 { video_node_light(node) }
    var canMap: Bool { video_node_can_map(node) }

    /// Gives a picture; `describe` adds what is said of it, `pointer` are the pixels of a pointer. False where nobody takes one
    /// now.
    @discardableResult
    func give(
        _ bytes: [UInt8]?, stride: Int, damage: [video_node_rectangle] = [], pointer: [UInt32] = [],
        _ describe: (inout video_node_picture) -> Void = { _ in }
    ) -> Bool {
        var picture = video_node_picture()
        picture.stride = Int32(stride)
        return (bytes ?? []).withUnsafeBufferPointer { bytes in
            damage.withUnsafeBufferPointer { damage in
                pointer.withUnsafeBufferPointer { pointer in
                    picture.bytes = bytes.count > 0 ? bytes.baseAddress : nil
                    picture.byte_count = UInt32(bytes.count)
                    picture.damage = damage.baseAddress
                    picture.damage_count = UInt32(damage.count)
                    picture.pointer_pixels = pointer.count > 0 ? pointer.baseAddress : nil
                    describe(&picture)
                    return video_node_give(node, &picture)
                }
            }
        }
    }

    /// Gives other formats from now on.
    func offer(_ formats: [video_node_format]) { video_node_offer(node, formats, UInt32(formats.count)) }

    /// Holds its pictures back, or gives some again.
    func setActive(_ isActive: Bool) { video_node_set_active(node, isActive) }
}

/// Waits until a condition holds.
func wait(
    for awaited: String, _ timeout: Duration = .seconds(20), until condition: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + timeout
    while try !condition() {
        guard ContinuousClock.now < deadline else {
            throw RunningProgram.Failure.timedOut(waitingFor: awaited, standardError: "")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}
