import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCaptureBroadcast

@Suite struct BroadcastReaderTests {
    private static let size = PixelSize(width: 34, height: 18)
    private static let part = PixelRectangle(x: 4, y: 2, size: PixelSize(width: 6, height: 4))

    /// Returns the bytes that an extension sends: a token, a whole frame, a part of a frame, and a message.
    private static func stream(format: PixelFormat) -> (bytes: [UInt8], first: PixelBuffer, second: PixelBuffer) {
        let first = BroadcastFixture.picture(size, format: format, seed: 1)
        let other = BroadcastFixture.picture(size, format: format, seed: 2)
        let second = BroadcastFixture.picture(first, with: part, of: other)
        var bytes = BroadcastFixture.greeting(BroadcastFixture.extensionToken)
        let strides = first.withPlanes { $0.strides }
        let whole = PictureDescription(
            timestamp: .seconds(1), rotation: .half, format: format, size: size, strides: strides, parts: nil)
        bytes += BroadcastMessage.picture(whole).encoded
        first.withPlanes { set in
            for plane in 0..<format.planeCount { bytes += set.planes[plane].prefix(whole.byteCount(ofPlane: plane)) }
        }
        let parts = PictureDescription(
            timestamp: .seconds(2), rotation: .half, format: format, size: size, strides: strides, parts: [part])
        bytes += BroadcastMessage.picture(parts).encoded
        second.withPlanes { set in
            for plane in 0..<format.planeCount {
                let place = format.extent(of: part, plane: plane)
                for row in place.row..<place.row + place.rows {
                    let start = row * strides[plane] + place.column
                    bytes += set.planes[plane][start..<start + place.rowBytes]
                }
            }
        }
        return (bytes + BroadcastMessage.resumed.encoded, first, second)
    }

    private static func read(_ bytes: [UInt8], cutAt cuts: [Int]) throws -> [BroadcastReader.Event] {
        let reader = BroadcastReader()
        reader.takesPictures = true
        var events: [BroadcastReader.Event] = []
        var start = 0
        for end in cuts + [bytes.count] {
            while start < end {
                let event = try reader.read { target in
                    let count = min(target.count, end - start)
                    target.copyBytes(from: bytes[start..<start + count])
                    start += count
                    return count
                }
                if let event { events.append(event) }
            }
        }
        return events
    }

    @Test("Messages are the same however the bytes are split", arguments: [PixelFormat.bgra, .i420, .nv12, .argb])
    func fragmentation(format: PixelFormat) throws {
        let (bytes, first, second) = Self.stream(format: format)
        for cut in stride(from: 1, to: bytes.count, by: 1) {
            let events = try Self.read(bytes, cutAt: [cut])
            try #require(events.count == 4)
            guard case .token(let token) = events[0], case .picture(let whole, let one) = events[1],
                case .picture(let parts, let two) = events[2], case .message(.resumed) = events[3]
            else {
                Issue.record("cut at \(cut): \(events)")
                return
            }
            #expect(token == BroadcastFixture.extensionToken)
            #expect(whole.parts == nil && parts.parts == [Self.part])
            #expect(one !== two && one.samples == first.samples && two.samples == second.samples)
        }
        // And byte by byte.
        #expect(try Self.read(bytes, cutAt: Array(1..<bytes.count)).count == 4)
    }

    @Test("Damage without a frame is rejected")
    func partsFirst() {
        let parts = PictureDescription(
            timestamp: .zero, rotation: .upright, format: .bgra, size: Self.size, strides: [136], parts: [Self.part])
        let bytes =
            BroadcastFixture.greeting(BroadcastFixture.extensionToken) + BroadcastMessage.picture(parts).encoded
            + [UInt8](repeating: 0, count: parts.payloadLength)
        #expect(throws: BroadcastError.network("changes to a frame that did not arrive")) {
            try Self.read(bytes, cutAt: [])
        }
    }

    @Test("A frame that is referenced is not overwritten")
    func heldPictures() throws {
        var pictures = BroadcastPictures()
        let description = PictureDescription(
            timestamp: .zero, rotation: .upright, format: .bgra, size: Self.size, strides: [136], parts: nil)
        let change = PictureDescription(
            timestamp: .zero, rotation: .upright, format: .bgra, size: Self.size, strides: [136], parts: [Self.part])
        let first = pictures.beginWhole(description)
        for index in first.planes[0].indices { first.planes[0][index] = 1 }
        pictures.finish()
        let before = first.samples
        var held: [BroadcastPicture] = []
        for value in 2..<12 as Range<UInt8> {
            let pixels = [UInt8](repeating: value, count: change.payloadLength)
            let picture = try #require(pixels.withUnsafeBytes { pictures.apply(change, pixels: $0) })
            #expect(picture !== first && !held.contains { $0 === picture })
            #expect(picture.samples[0].filter { $0 == value }.count == change.payloadLength)
            #expect(picture.samples[0].filter { $0 == 1 }.count == before[0].count - change.payloadLength)
            held.append(picture)
        }
        #expect(first.samples == before)
    }
}
