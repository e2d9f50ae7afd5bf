import Foundation
import RTCShareMedia
import TestSupport
import Testing
import VideoNode

@testable import RTCShareCapture

extension Interop {
    /// What compositors give now and then, or by the ways of machines that are not here: by a node and a portal that do as they are
    /// told.
    @Suite(
        "Screens of a Wayland desktop as a script", .serialized, .timeLimit(.minutes(2)),
        .enabled(if: Peers.mustRun || WaylandDesktop.missing == nil, "needs PipeWire and WirePlumber"))
    struct ScriptedScreenTests {
        /// A picture whose pixels all differ.
        private struct Picture {
            let size: PixelSize
            var rows: [[UInt32]]

            init(_ width: Int, _ height: Int, _ seed: UInt32) {
                size = PixelSize(width: width, height: height)
                rows = (0..<height).map { y in
                    (0..<width).map { x in (UInt32(x) << 16 | UInt32(y) << 8) + seed }
                }
            }

            mutating func fill(_ x: Int, _ y: Int, _ side: Int, _ value: UInt32) {
                for row in y..<y + side { for column in x..<x + side { rows[row][column] = value } }
            }

            /// Four bytes a pixel, blue first or red, with so many bytes after each row.
            func bytes(isRGB: Bool = false, padding: Int = 0) -> [UInt8] {
                rows.flatMap { row in
                    row.flatMap { pixel -> [UInt8] in
                        let (red, green, blue) = (UInt8(pixel >> 16), UInt8(pixel >> 8 & 255), UInt8(pixel & 255))
                        return isRGB ? [red, green, blue, 9] : [blue, green, red, 9]
                    } + [UInt8](repeating: 5, count: padding)
                }
            }

            func cropped(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [[UInt32]] {
                rows[y..<y + height].map { Array($0[x..<x + width]) }
            }
        }

        private static let size = PixelSize(width: 64, height: 48)

        /// A source that asks a scripted portal.
        private static func source(
            _ kind: ScreenCastPortal.Kind = .monitor, restoreToken: String? = nil, by portal: ScriptedPortal
        ) throws -> PortalSource {
            let bus = try portal.bus()
            return try PortalSource(kind, restoreToken: restoreToken, framesPerSecond: 60) {
                () throws(ScreenCastPortal.Problem) in bus
            }
        }

        /// A source of what a scripted screen gives.
        private func source(
            of node: ScriptedNode, by portal: ScriptedPortal
        ) async throws -> (source: PortalSource, log: FrameLog) {
            try portal.set(["node": .uint32(try await node.id())])
            let source = try Self.source(by: portal)
            try source.open()
            let log = FrameLog(source)
            try source.start()
            return (source, log)
        }

        @Test("Crops, turns, sizes, orders, gaps, pointers and lost pictures: each frame is what the screen shows")
        func pictures() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            // A format that only a graphics card has is offered first, and is not taken.
            let node = try ScriptedNode(
                "screen", on: desktop, isCamera: false,
                [
                    ScriptedNode.format(.init(video_node_bgrx.rawValue), Self.size, rates: [], needsDMABUF: true),
                    ScriptedNode.format(video_node_bgrx, Self.size, rates: []),
                ])
            let (source, log) = try await source(of: node, by: portal)
            defer { source.stop() }
            let agreed = try await node.streams()
            #expect(!agreed.needs_dmabuf && node.canMap)
            try await wait(for: "the first frame to be awaited") { log.now.interruption == .awaitingPicture }

            var sequence: UInt64 = 1
            func give(
                _ picture: Picture?, isRGB: Bool = false, padding: Int = 0, tellsStride: Bool = true,
                damage: [video_node_rectangle] = [], _ more: @escaping (inout video_node_picture) -> Void = { _ in }
            ) async throws {
                let stride = picture.map { tellsStride ? $0.size.width * 4 + padding : 0 } ?? 0
                try await wait(for: "a buffer") {
                    node.give(picture?.bytes(isRGB: isRGB, padding: padding), stride: stride, damage: damage) {
                        $0.sequence = sequence
                        more(&$0)
                    }
                }
                sequence += 1
            }
            func expect(_ what: String, _ rows: [[UInt32]]) async throws {
                try await wait(for: what, .seconds(5)) { log.rows == rows }
            }

            // The first frame is whole, though damage is told of a part.
            var picture = Picture(64, 48, 1)
            try await give(picture, padding: 12, damage: [video_node_rectangle(x: 0, y: 0, width: 4, height: 4)])
            try await expect("the first picture", picture.rows)
            #expect(log.now.interruption == nil)

            // What changed is told, and is all that is read.
            picture.fill(8, 8, 8, 0xAB_CDEF)
            try await give(picture, damage: [video_node_rectangle(x: 8, y: 8, width: 8, height: 8)])
            try await expect("damage", picture.rows)
            #expect(log.now.newest?.damage?.allSatisfy { $0.size.area <= 64 } == true)

            // A picture between was lost: what is told of this one is not all that changed.
            picture.fill(40, 30, 4, 0x12_3456)
            sequence += 3
            try await give(picture, damage: [video_node_rectangle(x: 0, y: 0, width: 2, height: 2)])
            try await expect("a gap", picture.rows)

            // Without a stride, and without damage.
            picture.fill(20, 20, 4, 0x65_4321)
            try await give(picture, tellsStride: false)
            try await expect("no stride", picture.rows)

            // Only the pointer moved: buffers without a picture, which say so, with its shape and then without.
            let shape = [UInt32](repeating: 0xFFFF_0000, count: 6)
            for (x, y, hasShape) in [(Int32(10), Int32(10), true), (30, 40, false)] {
                try await wait(for: "a buffer") {
                    node.give(nil, stride: 0, pointer: hasShape ? shape : []) {
                        ($0.is_corrupted, $0.has_pointer, $0.pointer_is_visible) = (true, true, true)
                        ($0.pointer_x, $0.pointer_y, $0.hotspot_x) = (x, y, 1)
                        ($0.pointer_width, $0.pointer_height) = (3, 2)
                    }
                }
                var shown = picture
                for row in Int(y)...Int(y) + 1 {
                    for column in Int(x) - 1...Int(x) + 1 { shown.rows[row][column] = 0xFF_0000 }
                }
                try await expect("the pointer", shown.rows)
            }
            // It leaves, and a picture that is damaged leaves all as it is.
            try await wait(for: "a buffer") {
                node.give(Picture(64, 48, 77).bytes(), stride: 256) { ($0.is_corrupted, $0.has_pointer) = (true, true) }
            }
            try await expect("no pointer", picture.rows)

            // A part of it, as of a window.
            try await give(picture) { $0.crop = video_node_rectangle(x: 6, y: 4, width: 32, height: 24) }
            try await expect("a crop", picture.cropped(6, 4, 32, 24))

            // A screen that was turned: 3 is a quarter turn clockwise, by which its content lies.
            try await give(picture) { $0.transform = 3 }
            let turned = (0..<64).map { column in (0..<48).map { picture.rows[$0][63 - column] } }
            try await expect("a turn", turned)
            try await give(picture) { $0.transform = 4 }
            try await expect("a mirror", picture.rows.map { Array($0.reversed()) })

            // Another size, and red first.
            let larger = Picture(96, 50, 3)
            node.offer([ScriptedNode.format(video_node_rgbx, larger.size, rates: [])])
            try await wait(for: "another format") { node.agreed.width == 96 && node.isStreaming }
            try await give(larger, isRGB: true)
            try await expect("another size", larger.rows)
            #expect(
                log.now.sizes == [
                    PixelSize(width: 32, height: 24), PixelSize(width: 48, height: 64), Self.size, larger.size,
                ])

            // A window that is minimised: the desktop holds its pictures back.
            node.setActive(false)
            try await wait(for: "a pause") { log.now.interruption == .heldByDesktop && log.now.isMuted }
            node.setActive(true)
            try await wait(for: "its end") { log.now.interruption == nil && !log.now.isMuted }
            try await give(larger, isRGB: true)

            // The desktop ends it, as where a window is closed.
            try portal.close()
            try await wait(for: "the end") { log.now.failure != nil }
            #expect(log.now.failure?.description == CaptureError.screenCastEnded.description)
        }

        @Test("Pictures that PipeWire tells of only with the next one are seen at once")
        func late() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            let node = try ScriptedNode(
                "screen", on: desktop, isCamera: false, [ScriptedNode.format(video_node_bgrx, Self.size, rates: [])])
            let (source, log) = try await source(of: node, by: portal)
            defer { source.stop() }
            try await node.streams()
            for number in 1..<8 {
                let picture = Picture(64, 48, UInt32(number))
                try await wait(for: "a buffer") {
                    node.give(picture.bytes(), stride: 256) {
                        ($0.sequence, $0.time, $0.is_late) = (UInt64(number), Int64(number) * 1_000_000, true)
                    }
                }
                try await wait(for: "picture \(number)", .seconds(10)) { log.rows == picture.rows }
            }
        }

        @Test("A desktop writes no frames while nobody looks, and the next viewer or start gets the newest frame")
        func rest() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            let node = try ScriptedNode(
                "screen", on: desktop, isCamera: false, [ScriptedNode.format(video_node_bgrx, Self.size, rates: [])])
            let (source, log) = try await source(of: node, by: portal)
            defer { source.stop() }
            try await node.streams()
            func give(_ picture: Picture, _ sequence: UInt64, _ damage: [video_node_rectangle]) async throws {
                try await wait(for: "a buffer") {
                    node.give(picture.bytes(), stride: 256, damage: damage) { $0.sequence = sequence }
                }
                try await wait(for: "picture \(sequence)") { log.rows == picture.rows }
            }
            var picture = Picture(64, 48, 1)
            try await give(picture, 1, [])

            source.remove(log)
            try await wait(for: "a pause") { !node.isStreaming }
            // Of what changed in the pause, the next picture tells only a part, with the next number.
            picture.fill(8, 8, 8, 0xAB_CDEF)
            picture.fill(40, 30, 4, 0x12_3456)
            source.add(log)
            try await node.streams()
            try await give(picture, 2, [video_node_rectangle(x: 8, y: 8, width: 8, height: 8)])
            try await wait(for: "no interruption") { log.now.interruption == nil && !log.now.isMuted }

            // A start while nothing changes: the desktop gives nothing.
            source.stop()
            try await wait(for: "another pause") { !node.isStreaming }
            let count = log.now.count
            try source.start()
            try await wait(for: "the newest picture") { log.now.count > count }
            #expect(log.rows == picture.rows && log.now.newest?.damage == nil)
            try await wait(for: "no interruption") { log.now.interruption == nil && !log.now.isMuted }
            picture.fill(20, 20, 4, 0x65_4321)
            try await node.streams()
            try await give(picture, 3, [video_node_rectangle(x: 0, y: 0, width: 2, height: 2)])
        }

        @Test("A node that goes and a PipeWire that ends are said")
        func ends() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            let format = ScriptedNode.format(video_node_bgrx, Self.size, rates: [])
            var node: ScriptedNode? = try ScriptedNode("screen", on: desktop, isCamera: false, [format])
            let first = try await source(of: try #require(node), by: portal)
            try await node?.streams()
            node = nil
            try await wait(for: "the end") { first.log.now.failure != nil }
            #expect(first.log.now.failure?.description.contains("the desktop's video was lost") == true)
            first.source.stop()

            let other = try ScriptedNode("other", on: desktop, isCamera: false, [format])
            let second = try await source(of: other, by: portal)
            defer { second.source.stop() }
            try await other.streams()
            desktop.server?.stop()
            try await wait(for: "the end") { second.log.now.failure != nil }
            #expect(second.log.now.failure?.description.contains("was lost") == true)
        }

        /// What opening a source comes to.
        private func refusal(_ portal: ScriptedPortal, _ kind: ScreenCastPortal.Kind = .monitor) -> String {
            do {
                try Self.source(kind, restoreToken: "unknown", by: portal).open()
                return "none"
            } catch {
                return "\(error)"
            }
        }

        @Test("A start asks the person: a no is a failure that observers are told, and the next start asks again")
        func declinedAtStart() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            let node = try ScriptedNode(
                "screen", on: desktop, isCamera: false, [ScriptedNode.format(video_node_bgrx, Self.size, rates: [])])
            try portal.set(["node": .uint32(try await node.id()), "Start": .uint32(1)])
            let source = try Self.source(by: portal)
            let observer = CaptureObserver()
            source.add(observer: observer)
            #expect(source.restoreToken == nil)
            try source.start()
            try await wait(for: "the no") { observer.events.contains(.failed(.systemFailure)) }
            #expect(observer.events.prefix(2) == [.started, .interrupted(.awaitingChoice)])
            #expect(!source.broadcaster.isMuted)
            try portal.set(["Start": .uint32(0)])
            try source.start()
            try await wait(for: "the yes") { observer.events.last == .resized(Self.size) }
            #expect(source.captureFormat.size == Self.size)
            source.stop()
        }

        @Test("Whatever a portal answers is said in a sentence: a no, a backend that dies, what it has not")
        func refusals() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            for method in ["CreateSession", "SelectSources", "Start"] {
                try portal.set([method: .uint32(1)])
                #expect(refusal(portal) == CaptureError.shareDeclined.description, "\(method)")
                try portal.set([method: .uint32(2)])
                #expect(refusal(portal).contains("the desktop's part of the portal ended the question"), "\(method)")
                try portal.set([method: .uint32(0)])
            }
            // The token of a question that failed is there for the next one.
            try portal.set(["Start": .uint32(2)])
            let kept = try Self.source(restoreToken: "kept", by: portal)
            for _ in 0..<2 {
                _ = try portal.asked()
                #expect(throws: CaptureError.self) { try kept.open() }
                #expect(try portal.asked().contains { $0.contains("restore_token=kept") })
            }
            // A token that it does not know leads to a question; what it does not offer is not asked for.
            _ = try portal.asked()
            try portal.set(["modes": .uint32(1), "Start": .uint32(1)])
            _ = refusal(portal, .any)
            #expect(
                try portal.asked() == [
                    "CreateSession",
                    "SelectSources cursor_mode=1 multiple=False persist_mode=2 restore_token=unknown types=3",
                    "SelectSources cursor_mode=1 multiple=False persist_mode=2 types=3", "Start",
                ])
            try portal.set(["types": .uint32(1), "version": .uint32(2)])
            #expect(refusal(portal, .window).contains("it offers monitor"))
            _ = try portal.asked()
            _ = refusal(portal)
            // Older portals know no tokens.
            #expect(try portal.asked()[1] == "SelectSources cursor_mode=1 multiple=False types=1")
            try portal.set(["types": .uint32(0)])
            #expect(refusal(portal).contains("no part for screens"))

            // It dies while it is asked.
            try portal.set(["types": .uint32(3), "Start": .uint32(9)])
            let source = try Self.source(by: portal)
            let asking = Task.detached {
                do {
                    try source.open()
                    return "none"
                } catch {
                    return "\(error)"
                }
            }
            try await wait(for: "the question") { try portal.asked().contains { $0.hasPrefix("Start") } }
            try portal.leave()
            #expect(await asking.value.contains("the portal is gone"))
            // The bus starts the machine's own in its place, where there is one; no backend of that is here.
            let bare = refusal(portal)
            #expect(bare.contains("no part for screens") || bare.contains("no portal answers"), "\(bare)")
        }
    }
}
