/// The receiving end of a modeled TCP connection: acknowledges each segment at once (RFC 5681 §4.2), and reports
/// segments after a gap.
package struct TCPReceiver: Sendable {
    /// The first missing segment.
    package private(set) var next = 0
    /// The segments after gaps, in order.
    private var later: [Range<Int>] = []

    /// Creates a receiver without any segments.
    package init() {}

    /// Receives a segment and returns its acknowledgment.
    package mutating func receive(_ segment: TCPSender.Segment) -> TCPSender.Acknowledgement {
        var block: Range<Int>?
        if segment.number == next {
            next += 1
            while let first = later.first, first.lowerBound <= next {
                next = max(next, first.upperBound)
                later.removeFirst()
            }
        } else if segment.number > next {
            block = insert(segment.number)
        }
        return TCPSender.Acknowledgement(next: next, block: block, echo: segment.timestamp)
    }

    /// Records a segment after a gap, and returns the received segments around it.
    private mutating func insert(_ number: Int) -> Range<Int> {
        let place = later.firstIndex { $0.upperBound >= number } ?? later.count
        guard place < later.count, later[place].lowerBound <= number + 1 else {
            later.insert(number..<number + 1, at: place)
            return number..<number + 1
        }
        let (lower, upper) = (min(later[place].lowerBound, number), max(later[place].upperBound, number + 1))
        later[place] = lower..<upper
        if place + 1 < later.count, later[place + 1].lowerBound == upper {
            later[place] = lower..<later.remove(at: place + 1).upperBound
        }
        return later[place]
    }
}
