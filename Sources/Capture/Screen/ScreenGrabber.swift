import RTCShareCXCB
import RTCShareMedia

/// Takes pictures of a subject, and keeps up with what happens to it. Lives on one thread.
///
///     events ─▶ changed? ─▶ what did? where is the pointer? ─▶ the parts that did ─▶ a picture of them and the last one
///
/// A picture costs what changed: only that is read from the server. Where much did, or it isn't known what, all is.
struct ScreenGrabber<Subject: ScreenSubject> {
    /// What a look at the subject found.
    enum Outcome {
        case frame(VideoFrame)
        /// Nothing that the last frame does not show.
        case nothingNew
        /// The signal was raised.
        case stopped
    }

    /// Of the area, what may be read part by part; more is read in one piece.
    private static var largestShare: Double { 0.6 }
    /// More parts are read as one.
    private static var mostParts: Int { 32 }
    /// How often the server may refuse in a row what it is asked of a subject that seems to be as it was.
    private static var mostRefusals: Int { 3 }

    private let connection: XConnection
    private var subject: Subject
    private let damage: ScreenDamage?
    /// Nil while the subject is hidden.
    private var place: ScreenGeometry?
    private var pointer: PointerOverlay?
    /// Where the newest picture shows the pointer.
    private var drawnPointer: PixelRectangle?
    private var pictures: ScreenPictures
    private var reader: ScreenReader
    private var isGeometryOutdated = true
    /// The newest picture, or what changed since, isn't known to be right.
    private var isUnknown = true
    private var refusals = 0
    /// Whether the last look found the pointer elsewhere, or of another shape.
    private(set) var pointerMoved = false
    /// What is to be said of the subject.
    private(set) var interruption: CaptureInterruption?
    /// From when on a look shows the subject and nothing else.
    private(set) var settledTime = Duration.zero

    /// Nil where `signal` was raised. The subject watches its place already: no change falls between.
    init?(connection: XConnection, subject: Subject, signal: StopSignal?) throws(CaptureError) {
        self.connection = connection
        self.subject = subject
        damage = try ScreenDamage(connection: connection, watched: subject.watched, signal: signal)
        reader = ScreenReader(connection: connection)
        pictures = ScreenPictures(connection: connection, size: PixelSize(width: 0, height: 0))
        pointer = try PointerOverlay(connection: connection, signal: signal)
        guard signal?.isRaised != true else { return nil }
    }

    /// Whether there is no picture to be had. As far as ``update(signal:)`` knows, as all of these.
    var isHidden: Bool { place == nil }

    /// The size of the next picture; nil while there is none.
    var size: PixelSize? { place?.pixels.area.size }

    /// Whether there is something to be seen that no frame has shown.
    var hasChange: Bool { isUnknown || damage?.isPending ?? true || pointer?.isPending ?? false }

    /// Takes note of the events that came, and finds the subject anew where it may be elsewhere; false where `signal` was
    /// raised. No event is left unseen when it returns: whoever waits then misses none.
    mutating func update(signal: StopSignal?) throws(CaptureError) -> Bool {
        try takeEvents()
        while isGeometryOutdated {
            guard try locate(signal: signal) else { return false }
            // With the answers more may have come.
            try takeEvents()
        }
        return true
    }

    /// Looks for the subject with the next update, whether or not an event told of it.
    mutating func search() { isGeometryOutdated = true }

    /// Returns once the server has something to say, `deadline` has passed, or the signal is raised: false then.
    func wait(until deadline: Duration, signal: StopSignal) -> Bool {
        connection.waitForInput(until: deadline, signal: signal)
    }

    /// Looks at the subject. With `evenIfOld` the last picture is given again where there is nothing new.
    mutating func look(evenIfOld: Bool, signal: StopSignal?) throws(CaptureError) -> Outcome {
        do throws(CaptureError) {
            let outcome = try picture(evenIfOld: evenIfOld, signal: signal)
            refusals = 0
            return outcome
        } catch {
            // The screen may have shrunk since the events were read, or the window be gone; where that is so, what is asked
            // for has changed.
            guard case .requestRefused = error, refusals < Self.mostRefusals else { throw error }
            refusals += 1
            let before = place?.pixels
            subject.forget()
            guard try locate(signal: signal) else { return .stopped }
            guard place?.pixels != before else { return .nothingNew }
            return place == nil || monotonicNow() < settledTime
                ? .nothingNew : try picture(evenIfOld: evenIfOld, signal: signal)
        }
    }

    private mutating func takeEvents() throws(CaptureError) {
        try connection.drainEvents { event in
            damage?.handle(event)
            pointer?.handle(event)
            if subject.handle(event) { isGeometryOutdated = true }
        }
    }

    /// Finds the subject anew; false where `signal` was raised.
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
        // What is settling already is not waited for anew: a window that changes all the time is seen now and then.
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
        let pointerArea = pointer?.rectangle(in: area)
        // What lies under the pointer is in no picture: it is read again before the pointer is drawn anew.
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

    /// Makes one of many parts; false where it is better to read the whole area.
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
