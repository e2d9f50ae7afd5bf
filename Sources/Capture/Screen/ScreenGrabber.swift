import CXCB
import Media

/// Takes pictures of a part of a screen, and keeps up with what happens to it. Lives on one thread.
///
///     events ─▶ changed? ─▶ what did? where is the pointer? ─▶ the parts that did ─▶ a picture of them and the last one
///
/// A picture costs what changed: only that is read from the server. Where much did, or it isn't known what, all is.
struct ScreenGrabber {
    /// What a look at the screen found.
    enum Outcome {
        case frame(VideoFrame)
        /// Nothing that the last frame does not show.
        case nothingNew
        /// The signal was raised.
        case stopped
    }

    /// Of the area, what may be read part by part; more is read in one piece.
    private static let largestShare = 0.6
    /// More parts are read as one.
    private static let mostParts = 32

    private let connection: XConnection
    private let wanted: DisplaySource.Area
    private let geometryEvents: EventTypes
    private let damage: ScreenDamage?
    private var area: PixelRectangle
    private var pointer: PointerOverlay?
    /// Where the newest picture shows the pointer.
    private var drawnPointer: PixelRectangle?
    private var pictures: ScreenPictures
    private var reader: ScreenReader
    private var geometryIsOutdated = false
    /// The newest picture, or what changed since, isn't known to be right.
    private var isUnknown = true
    /// Whether the last look found the pointer elsewhere, or of another shape.
    private(set) var pointerMoved = false

    /// Nil where `signal` was raised.
    init?(connection: XConnection, wanted: DisplaySource.Area, signal: StopSignal?) throws(CaptureError) {
        self.connection = connection
        self.wanted = wanted
        // Watch first, look then: no change falls between.
        geometryEvents = connection.watchGeometry()
        damage = try ScreenDamage(connection: connection, signal: signal)
        guard let area = try wanted.rectangle(on: connection, signal: signal) else { return nil }
        self.area = area
        reader = ScreenReader(connection: connection)
        pictures = ScreenPictures(connection: connection, size: area.size)
        pointer = try PointerOverlay(connection: connection, signal: signal)
    }

    /// Whether there is something to be seen that no frame has shown. Takes note of the events that came.
    mutating func hasChange() throws(CaptureError) -> Bool {
        let events = try connection.drainEvents()
        damage?.take(events: events)
        pointer?.take(events: events)
        if !events.isDisjoint(with: geometryEvents) { geometryIsOutdated = true }
        return isUnknown || geometryIsOutdated || damage?.isPending ?? true || pointer?.isPending ?? false
    }

    /// Returns once the server has something to say, `deadline` has passed, or the signal is raised: false then.
    func wait(until deadline: Duration, signal: StopSignal) -> Bool {
        connection.waitForInput(until: deadline, signal: signal)
    }

    /// Looks at the screen. With `evenIfOld` the last picture is given again where there is nothing new.
    mutating func look(evenIfOld: Bool, signal: StopSignal?) throws(CaptureError) -> Outcome {
        if geometryIsOutdated {
            guard try locate(signal: signal) else { return .stopped }
        }
        do throws(CaptureError) {
            return try picture(evenIfOld: evenIfOld, signal: signal)
        } catch {
            // The screen may have shrunk since the events were read; where it has, what is asked for has changed.
            guard case .requestRefused = error else { throw error }
            let before = area
            guard try locate(signal: signal) else { return .stopped }
            guard area != before else { throw error }
            return try picture(evenIfOld: evenIfOld, signal: signal)
        }
    }

    /// Finds the wanted part anew; false where `signal` was raised.
    private mutating func locate(signal: StopSignal?) throws(CaptureError) -> Bool {
        geometryIsOutdated = false
        guard let area = try wanted.rectangle(on: connection, signal: signal) else { return false }
        if area != self.area { isUnknown = true }
        if area.size != self.area.size {
            pictures.reset(to: area.size)
            reader.reset()
        }
        self.area = area
        return true
    }

    private mutating func picture(evenIfOld: Bool, signal: StopSignal?) throws(CaptureError) -> Outcome {
        let question = damage.flatMap { $0.isPending ? $0.ask() : nil }
        var pointerQuestion = pointer?.ask()
        defer { if let pointerQuestion { pointer?.withdraw(pointerQuestion) } }
        // Until all is read, what was told of changes is not in any picture.
        let wasUnknown = isUnknown || damage == nil
        isUnknown = true
        // One list, which goes with the frame at last.
        var parts: [PixelRectangle] = []
        if let asked = question {
            guard let changed = try damage?.answer(to: asked, in: area, signal: signal) else { return .stopped }
            parts = changed
        }
        pointerMoved = false
        if let asked = pointerQuestion {
            pointerQuestion = nil
            guard let isNew = try pointer?.answer(to: asked, signal: signal) else { return .stopped }
            pointerMoved = isNew
        }
        let pointerPlace = pointer?.rectangle(in: area)
        // What lies under the pointer is in no picture: it is read again before the pointer is drawn anew.
        let drawsPointer =
            pointerMoved && (pointerPlace != nil || drawnPointer != nil)
            || parts.contains { part in drawnPointer.map { part.intersection($0) != nil } ?? false }
        guard wasUnknown || drawsPointer || !parts.isEmpty else {
            isUnknown = false
            guard evenIfOld, let newest = pictures.newest else { return .nothingNew }
            return .frame(VideoFrame(buffer: newest, timestamp: monotonicNow(), damage: []))
        }
        if drawsPointer, let drawnPointer { parts.append(drawnPointer) }
        let isWhole = wasUnknown || !gather(&parts)
        if isWhole {
            parts.removeAll(keepingCapacity: true)
            parts.append(PixelRectangle(x: 0, y: 0, size: area.size))
        }
        let picture = try pictures.begin(parts: isWhole ? nil : parts)
        guard try reader.read(parts, of: area, into: picture, signal: signal) else { return .stopped }
        let timestamp = monotonicNow()
        if isWhole || drawsPointer {
            pointer?.draw(into: picture, area: area)
            drawnPointer = pointerPlace
        }
        isUnknown = false
        guard signal?.isRaised != true else { return .stopped }
        guard !wasUnknown else { return .frame(VideoFrame(buffer: picture, timestamp: timestamp)) }
        if drawsPointer, let pointerPlace { parts.append(pointerPlace) }
        return .frame(VideoFrame(buffer: picture, timestamp: timestamp, damage: parts))
    }

    /// Makes one of many parts; false where it is better to read the whole area.
    private func gather(_ parts: inout [PixelRectangle]) -> Bool {
        if parts.count > Self.mostParts {
            let all = parts.reduce(parts[0]) { $0.union($1) }
            parts.removeAll(keepingCapacity: true)
            parts.append(all)
        }
        let pixels = parts.reduce(0) { $0 + $1.size.area }
        return Double(pixels) <= Double(area.size.area) * Self.largestShare
    }
}
