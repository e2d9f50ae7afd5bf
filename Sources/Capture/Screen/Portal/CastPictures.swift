import RTCShareCYUV
import RTCShareMedia

/// Converts a desktop's buffers to frames: reads only the changed parts of each, and draws the pointer.
///
///     buffers ─▶ recorded: changes, pointer ─▶ a frame, when one is due: the changed parts of the newest buffer
///
/// If the desktop doesn't report changes, or reports most of the screen, the newest buffer is compared with the frame
/// before.
struct CastPictures {
    /// The number of parts above which they are read as one, and the fraction of the frame above which all of it is
    /// read.
    private static let mostParts = 32
    private static let largestShare = 0.6

    private var pictures = ScreenPictures(size: PixelSize(width: 0, height: 0))
    /// Whether there is a buffer that no frame shows yet.
    private(set) var hasPixels = false
    /// The changed parts since the last frame, in pixels of the frame; nil if they are unknown.
    private(set) var changes: [PixelRectangle]?
    /// The properties of the last buffer; a difference invalidates all pixels read before.
    private var last: (generation: UInt32, area: PixelRectangle, turn: PictureTurn, sequence: UInt64?)?
    private var pointer = (place: PixelPosition?.none, shape: PointerShape?.none)
    private var pointerMoved = false
    /// The part of the newest frame with the pointer, and the pixels under it.
    private var drawn: (part: PixelRectangle, under: [UInt32])?
    /// The memory for rotated pixels.
    private var scratch: [UInt32] = []

    /// The size of the next frame; nil before the first buffer.
    var size: PixelSize? { last.map { $0.turn.size(of: $0.area.size) } }

    /// Whether there is a change that no frame shows.
    var hasChange: Bool { hasPixels || (pointerMoved && pictures.newest != nil) }

    /// Whether there is a frame, which may be old.
    var hasFrame: Bool { pictures.newest != nil }

    /// Records a buffer, whether or not it will be read. Returns false for one that only carries the pointer.
    mutating func receive(_ content: CastContent) -> Bool {
        if let pointer = content.pointer { receive(pointer) }
        guard content.pixels != nil, let area = content.area else {
            // A desktop that counts buffers counts those of the pointer, too: the next one still follows this.
            if content.pixels == nil, let known = last?.sequence, content.sequence == known &+ 1 {
                last?.sequence = content.sequence
            }
            return false
        }
        let follows =
            last.map { last in
                let counted = content.sequence.flatMap { new in last.sequence.map { new == $0 &+ 1 } } ?? true
                return last.generation == content.generation && last.area == area && last.turn == content.turn
                    && counted
            } ?? false
        last = (content.generation, area, content.turn, content.sequence)
        if let size, pictures.size != size {
            pictures.reset(to: size)
            drawn = nil
        }
        if !hasPixels { changes = [] }
        hasPixels = true
        guard follows, let damage = content.damage else {
            changes = nil
            return true
        }
        let parts = damage.compactMap { part in
            part.intersection(area).map { part in
                content.turn.rectangle(
                    of: PixelRectangle(x: part.x - area.x, y: part.y - area.y, size: part.size), in: area.size)
            }
        }
        // If nobody takes frames, the list of a moving desktop would grow forever.
        changes = changes.map { Self.gathered($0 + parts) }
        return true
    }

    /// Records that the last buffers can't be read any more.
    mutating func losePixels() {
        hasPixels = false
        loseTrack()
    }

    /// Records that the desktop does not report what changes before the next buffer.
    mutating func loseTrack() { last?.generation = 0 }

    private mutating func receive(_ new: CastPointer) {
        if new.place != pointer.place {
            pointer.place = new.place
            pointerMoved = true
        }
        if let shape = new.shape, shape != pointer.shape {
            pointer.shape = shape
            pointerMoved = true
        }
    }

    /// Returns a frame of the recorded changes, with pixels of the newest buffer that has some; nil if there is no
    /// change. With `evenIfOld`, it returns the last frame again then.
    mutating func frame(
        of newest: CastContent?, evenIfOld: Bool, now: Duration
    ) throws(CaptureError) -> VideoFrame? {
        guard let last, let size else { return nil }
        let content = hasPixels ? newest : nil
        var parts: [PixelRectangle] = []
        var isWhole = false
        if let content {
            (parts, isWhole) = changedParts(of: content, area: last.area, size: size)
        }
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        let place = pointerPosition(in: last)
        let pointed = place.flatMap { place in pointer.shape?.rectangle(at: place, in: whole) }
        let drawsPointer =
            isWhole || pointerMoved && (pointed != nil || drawn != nil)
            || parts.contains { part in drawn.map { part.intersection($0.part) != nil } ?? false }
        guard isWhole || !parts.isEmpty || (drawsPointer && pictures.newest != nil) else {
            (hasPixels, pointerMoved) = (false, false)
            guard evenIfOld, let newest = pictures.newest else { return nil }
            return VideoFrame(buffer: newest, timestamp: now, damage: [])
        }
        let uncovered = isWhole || !drawsPointer ? nil : drawn
        let written = parts + (uncovered.map { [$0.part] } ?? [])
        let picture = try pictures.begin(parts: isWhole ? nil : written, overlay: drawsPointer ? pointed : nil)
        if let uncovered {
            uncovered.under.withUnsafeBytes {
                if let start = $0.baseAddress {
                    picture.write(uncovered.part, from: start, stride: uncovered.part.size.width * 4)
                }
            }
        }
        if let content {
            for part in isWhole ? [whole] : parts { read(part, of: content, area: last.area, into: picture) }
        }
        if drawsPointer {
            drawn = pointed.map { ($0, picture.pixels(of: $0)) }
            if let place { pointer.shape?.draw(into: picture, at: place, area: whole) }
        }
        (hasPixels, pointerMoved) = (false, false)
        guard !isWhole else { return VideoFrame(buffer: picture, timestamp: now) }
        return VideoFrame(
            buffer: picture, timestamp: now, damage: written + (drawsPointer ? [pointed].compactMap { $0 } : []))
    }

    /// Returns the pointer's position, in pixels of the frame.
    private func pointerPosition(
        in last: (generation: UInt32, area: PixelRectangle, turn: PictureTurn, sequence: UInt64?)
    ) -> PixelPosition? {
        guard let place = pointer.place else { return nil }
        // A point is transformed like a part without extent.
        let point = last.turn.rectangle(
            of: PixelRectangle(
                x: place.x - last.area.x, y: place.y - last.area.y, size: PixelSize(width: 1, height: 1)),
            in: last.area.size)
        return PixelPosition(x: point.x, y: point.y)
    }

    // MARK: Changes

    /// Returns one part around many.
    private static func gathered(_ parts: [PixelRectangle]) -> [PixelRectangle] {
        guard parts.count > mostParts, let first = parts.first else { return parts }
        return [parts.reduce(first) { $0.union($1) }]
    }

    private func changedParts(
        of content: CastContent, area: PixelRectangle, size: PixelSize
    ) -> (parts: [PixelRectangle], isWhole: Bool) {
        guard let newest = pictures.newest else { return ([], true) }
        // Some desktops, such as GNOME, report the whole screen for each change.
        if let changes, let parts = Self.worthwhile(changes, of: size) { return (parts, false) }
        // Comparing rotated or swapped pixels would require reading them.
        guard content.turn.isUpright, !content.isRGB, let start = content.start(of: area) else { return ([], true) }
        var compared = PictureComparison.changes(from: newest, to: start, stride: content.stride)
        // The newest frame shows the pointer there, which hides changes to its own colors.
        if let drawn { compared.append(drawn.part) }
        guard let parts = Self.worthwhile(compared, of: size) else { return ([], true) }
        return (parts, false)
    }

    /// Returns the parts to read; nil if reading the whole frame is better.
    private static func worthwhile(_ parts: [PixelRectangle], of size: PixelSize) -> [PixelRectangle]? {
        let parts = gathered(parts)
        let pixels = parts.reduce(0) { $0 + $1.size.area }
        return Double(pixels) > Double(size.area) * largestShare ? nil : parts
    }

    // MARK: Pixels

    /// Reads a part of a frame.
    private mutating func read(
        _ part: PixelRectangle, of content: CastContent, area: PixelRectangle, into picture: ScreenPicture
    ) {
        guard let start = content.start(of: area) else { return }
        guard !content.turn.isUpright || content.isRGB else {
            picture.write(part, from: start + part.y * content.stride + part.x * 4, stride: content.stride)
            return
        }
        let source = content.turn.source(of: part, in: area.size)
        let width = Int32(source.size.width)
        let height = Int32(source.size.height)
        if scratch.count < 2 * source.size.area { scratch = Array(repeating: 0, count: 2 * source.size.area) }
        let from = start.advanced(by: source.y * content.stride + source.x * 4).assumingMemoryBound(to: UInt8.self)
        let modes = [kRotate0, kRotate270, kRotate180, kRotate90]
        let target = picture.memory.baseAddress?.advanced(by: part.y * picture.stride + part.x * 4)
            .assumingMemoryBound(to: UInt8.self)
        scratch.withUnsafeMutableBytes { bytes in
            guard let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let second = first + source.size.area * 4
            var pixels = from
            var stride = Int32(content.stride)
            if content.isRGB {
                _ = ABGRToARGB(pixels, stride, first, width * 4, width, height)
                pixels = UnsafePointer(first)
                stride = width * 4
            }
            if content.turn.isMirrored {
                _ = ARGBMirror(pixels, stride, second, width * 4, width, height)
                pixels = UnsafePointer(second)
                stride = width * 4
            }
            // libyuv rotates clockwise.
            _ = ARGBRotate(
                pixels, stride, target, Int32(picture.stride), width, height, modes[content.turn.quarterTurns])
        }
    }
}

extension CastContent {
    /// Returns the first pixel of a part.
    fileprivate func start(of area: PixelRectangle) -> UnsafeRawPointer? {
        pixels?.baseAddress.map { $0 + area.y * stride + area.x * 4 }
    }
}

extension PictureTurn {
    /// Returns the source of a part of the rotated frame: `size` is that of the frame before the rotation.
    func source(of part: PixelRectangle, in size: PixelSize) -> PixelRectangle {
        let back = PictureTurn(quarterTurns: (4 - quarterTurns) % 4)
        let turned = back.rectangle(of: part, in: self.size(of: size))
        return PictureTurn(isMirrored: isMirrored).rectangle(of: turned, in: size)
    }
}

extension ScreenPicture {
    /// Returns a copy of a part's pixels, without gaps.
    fileprivate func pixels(of part: PixelRectangle) -> [UInt32] {
        (part.y..<part.y + part.size.height).flatMap { y in
            (part.x..<part.x + part.size.width).map { x in
                memory.load(fromByteOffset: y * stride + x * 4, as: UInt32.self)
            }
        }
    }
}
