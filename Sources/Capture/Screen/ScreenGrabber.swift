import RTCShareCXCB
import RTCShareMedia

/// Captures frames of a subject, and follows its changes. Used on one thread.
///
///     events ─▶ changed? ─▶ which parts? pointer position? ─▶ pixels of those ─▶ a frame of them and the last one
///
/// The cost of a frame is that of its changes: only those are read from the server. If much has changed, or the changes
/// are unknown, everything is read.
struct ScreenGrabber<Subject: ScreenSubject> {
    /// The result of a check of the subject.
    enum Outcome {
        case frame(VideoFrame)
        /// There is no change since the last frame.
        case nothingNew
        /// The signal was raised.
        case stopped
    }

    /// The fraction of the area above which it is read in one piece.
    private static var largestShare: Double { 0.6 }
    /// The number of parts above which they are read as one.
    private static var mostParts: Int { 32 }
    /// The maximum number of consecutive rejections by the server.
    private static var mostRefusals: Int { 3 }

    private let connection: XConnection
    private var subject: Subject
    private let damage: ScreenDamage?
    /// The place of the subject; nil while it is hidden.
    private var place: ScreenGeometry?
    private var pointer: PointerOverlay?
    /// The part of the newest frame with the pointer.
    private var drawnPointer: PixelRectangle?
    private var pictures: ScreenPictures
    private var reader: ScreenReader
    private var isGeometryOutdated = true
    /// Whether the newest frame, or the changes since, may be wrong.
    private var isUnknown = true
    private var refusals = 0
    /// Whether the last check found the pointer moved, or with another shape.
    private(set) var pointerMoved = false
    /// The current interruption.
    private(set) var interruption: CaptureInterruption?
    /// The time from which on a frame shows only the subject.
    private(set) var settledTime = Duration.zero

    /// Creates a grabber; nil if `signal` was raised. The subject already watches its place, so that no change is
    /// missed in between.
    init?(connection: XConnection, subject: Subject, signal: StopSignal?) throws(CaptureError) {
        self.connection = connection
        self.subject = subject
        damage = try ScreenDamage(connection: connection, watched: subject.watched, signal: signal)
        reader = ScreenReader(connection: connection)
        pictures = ScreenPictures(connection: connection, size: PixelSize(width: 0, height: 0))
        pointer = try PointerOverlay(connection: connection, signal: signal)
        guard signal?.isRaised != true else { return nil }
    }

    /// Whether there is no video, according to the last ``update(signal:)``, like all of these properties.
    var isHidden: Bool { place == nil }

    /// The size of the next frame; nil while there is none.
    var size: PixelSize? { place?.pixels.area.size }

    /// Whether there is a change that no frame has shown.
    var hasChange: Bool { isUnknown || damage?.isPending ?? true || pointer?.isPending ?? false }

    /// Handles the events that have arrived, and finds the subject again if it may have moved. Returns false if
    /// `signal` was raised. No event is left when it returns, so that a following wait misses none.
    mutating func update(signal: StopSignal?) throws(CaptureError) -> Bool {
        try takeEvents()
        while isGeometryOutdated {
            guard try locate(signal: signal) else { return false }
            // More events may have arrived with the answers.
            try takeEvents()
        }
        return true
    }

    /// Finds the subject again in the next update, even without an event.
    mutating func search() { isGeometryOutdated = true }

    /// Waits for input from the server, or until `deadline`. Returns false if the signal was raised.
    func wait(until deadline: Duration, signal: StopSignal) -> Bool {
        connection.waitForInput(until: deadline, signal: signal)
    }

    /// Checks the subject. With `evenIfOld` it returns the last frame again if there is no change.
    mutating func look(evenIfOld: Bool, signal: StopSignal?) throws(CaptureError) -> Outcome {
        do throws(CaptureError) {
            let outcome = try picture(evenIfOld: evenIfOld, signal: signal)
            refusals = 0
            return outcome
        } catch {
            // The screen may have shrunk since the events were read, or the window may be closed. The next check sends
            // another request then, and reads everything.
            guard case .requestRefused = error, refusals < Self.mostRefusals else { throw error }
            refusals += 1
            subject.forget()
            return try locate(signal: signal) ? .nothingNew : .stopped
        }
    }

    private mutating func takeEvents() throws(CaptureError) {
        try connection.drainEvents { event in
            damage?.handle(event)
            pointer?.handle(event)
            if subject.handle(event) { isGeometryOutdated = true }
        }
    }

    /// Finds the subject again. Returns false if `signal` was raised.
    private mutating func locate(signal: StopSignal?) throws(CaptureError) -> Bool {
        isGeometryOutdated = false
        let before = place?.pixels
        switch try subject.locate(signal: signal) {
        case .stopped: return false
        case .hidden(let interruption):
            place = nil
            self.interruption = interruption
        case .shown(let place, let interruption):
            self.place = place
            self.interruption = interruption
        }
        guard let pixels = place?.pixels, pixels != before else { return true }
        isUnknown = true
        let now = monotonicNow()
        // A subject that is settling does not restart the wait: a window that changes all the time is still captured.
        if now >= settledTime { settledTime = now + subject.settlingTime }
        guard pictures.size != pixels.area.size else { return true }
        pictures.reset(to: pixels.area.size)
        reader.reset()
        drawnPointer = nil
        return true
    }

    private mutating func picture(evenIfOld: Bool, signal: StopSignal?) throws(CaptureError) -> Outcome {
        guard let place else { return .nothingNew }
        let area = place.pixels.area
        let question = damage.flatMap { $0.isPending ? $0.ask() : nil }
        var pointerQuestion = pointer?.ask(place.pointer)
        defer { if let pointerQuestion { pointer?.withdraw(pointerQuestion) } }
        // Until everything is read, no frame contains the reported changes.
        let wasUnknown = isUnknown || damage == nil
        isUnknown = true
        // A single list, which becomes the frame's damage.
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
        let pointerArea = pointer?.rectangle(in: area)
        // The pixels under the pointer are in no frame: they are read again before the pointer is redrawn.
        let drawsPointer =
            pointerMoved && (pointerArea != nil || drawnPointer != nil)
            || parts.contains { part in drawnPointer.map { part.intersection($0) != nil } ?? false }
        guard wasUnknown || drawsPointer || !parts.isEmpty else {
            isUnknown = false
            guard evenIfOld, let newest = pictures.newest else { return .nothingNew }
            return .frame(VideoFrame(buffer: newest, timestamp: monotonicNow(), damage: []))
        }
        if drawsPointer, let drawnPointer { parts.append(drawnPointer) }
        let isWhole = wasUnknown || !gather(&parts, of: area.size)
        if isWhole {
            parts.removeAll(keepingCapacity: true)
            parts.append(PixelRectangle(x: 0, y: 0, size: area.size))
        }
        let picture = try pictures.begin(parts: isWhole ? nil : parts, overlay: drawsPointer ? pointerArea : nil)
        guard try reader.read(parts, of: place.pixels, into: picture, signal: signal) else { return .stopped }
        let timestamp = monotonicNow()
        if isWhole || drawsPointer {
            pointer?.draw(into: picture, area: area)
            drawnPointer = pointerArea
        }
        isUnknown = false
        guard signal?.isRaised != true else { return .stopped }
        guard !wasUnknown else { return .frame(VideoFrame(buffer: picture, timestamp: timestamp)) }
        if drawsPointer, let pointerArea { parts.append(pointerArea) }
        return .frame(VideoFrame(buffer: picture, timestamp: timestamp, damage: parts))
    }

    /// Merges many parts into one. Returns false if reading the whole area is better.
    private func gather(_ parts: inout [PixelRectangle], of size: PixelSize) -> Bool {
        if parts.count > Self.mostParts {
            let all = parts.reduce(parts[0]) { $0.union($1) }
            parts.removeAll(keepingCapacity: true)
            parts.append(all)
        }
        let pixels = parts.reduce(0) { $0 + $1.size.area }
        return Double(pixels) <= Double(size.area) * Self.largestShare
    }
}
