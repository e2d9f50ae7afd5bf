public import FoundationEssentials
import RTCShareCXCB
import RTCShareCYUV
public import RTCShareMedia

extension WindowSource {
    /// Small pictures of windows that were listed, by the windows' numbers: each is the whole window, fitted within `size`.
    /// A window that has no picture (it is minimised, or was closed meanwhile) has none here either.
    ///
    /// It takes some tenths of a second, and the memory of a few windows: call it where waiting does no harm.
    public static func thumbnails(
        of windows: [DisplayWindow], fitting size: PixelSize,
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> [UInt32: PixelBuffer] {
        let connection = try XConnection(display: display)
        guard try connection.queryComposite() else { return [:] }
        var thumbnails = WindowThumbnails(connection: connection, bound: size)
        return try thumbnails.pictures(of: windows)
    }
}

/// Takes a picture of each of many windows, a few at a time.
struct WindowThumbnails {
    let connection: XConnection
    let bound: PixelSize
    /// Pixels that the X server keeps apart for us at a time, four bytes each: windows of a few screens.
    private static let mostPixels = 32 << 20
    private let reader: ScreenReader

    init(connection: XConnection, bound: PixelSize) {
        self.connection = connection
        self.bound = bound
        reader = ScreenReader(connection: connection)
    }

    mutating func pictures(of windows: [DisplayWindow]) throws(CaptureError) -> [UInt32: PixelBuffer] {
        var pictures: [UInt32: PixelBuffer] = [:]
        for batch in Self.batches(of: windows) {
            for (window, picture) in try self.pictures(ofBatch: batch) { pictures[window] = picture }
        }
        return pictures
    }

    /// Windows whose pixels lie in memory at the same time. A window that is too large by itself is left out.
    static func batches(of windows: [DisplayWindow]) -> [[DisplayWindow]] {
        var batches: [[DisplayWindow]] = []
        var pixels = mostPixels
        for window in windows where window.size.area <= mostPixels {
            if pixels + window.size.area > mostPixels {
                batches.append([])
                pixels = 0
            }
            batches[batches.count - 1].append(window)
            pixels += window.size.area
        }
        return batches
    }

    private mutating func pictures(ofBatch windows: [DisplayWindow]) throws(CaptureError) -> [(UInt32, PixelBuffer)] {
        var subjects: [(id: UInt32, subject: WindowSubject)] = []
        var settlingTime = Duration.zero
        for window in windows where !window.isMinimised {
            guard
                let subject = try Self.present({ () throws(CaptureError) in try WindowSubject(window, on: connection) })
            else { continue }
            subjects.append((window.id, subject))
            settlingTime = subject.settlingTime
        }
        // What was covered until now is drawn by its program first.
        _ = try StopSignal().wait(until: monotonicNow() + settlingTime)
        var pictures: [(UInt32, PixelBuffer)] = []
        for (id, subject) in subjects {
            let picture = try Self.present { () throws(CaptureError) in try thumbnail(of: subject) }
            if let picture = picture.flatMap({ $0 }) { pictures.append((id, picture)) }
        }
        return pictures
    }

    /// Nil where the window was closed or changed in between.
    private static func present<Value>(_ body: () throws(CaptureError) -> Value) throws(CaptureError) -> Value? {
        do throws(CaptureError) {
            return try body()
        } catch {
            switch error {
            case .windowClosed, .requestRefused: return nil
            default: throw error
            }
        }
    }

    private mutating func thumbnail(of subject: WindowSubject) throws(CaptureError) -> PixelBuffer? {
        guard case .shown(let place, _) = try subject.locate(signal: nil) else { return nil }
        let size = place.pixels.area.size
        // It may have become larger since.
        guard size.area <= Self.mostPixels else { return nil }
        let segment = try SharedSegment(connection: connection, byteCount: size.area * 4)
        let picture = ScreenPicture(size: size, segment: segment)
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        var reader = reader
        guard try reader.read([whole], of: place.pixels, into: picture, signal: nil) else { return nil }
        let fitted = size.fitted(within: bound)
        guard fitted.area > 0 else { return nil }
        return PixelBuffer(size: fitted, format: .bgra) { planes, strides in
            _ = ARGBScale(
                picture.memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(picture.stride),
                Int32(size.width), Int32(size.height), planes[0].baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(strides[0]), Int32(fitted.width), Int32(fitted.height), kFilterBox)
        }
    }
}
