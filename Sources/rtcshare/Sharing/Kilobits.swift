internal import ArgumentParser
internal import RTCShareWireFormat

/// Bitrates as the command line has them.
enum Kilobits {
    /// Says what could be given where a number of kilobits a second is none of `rates`.
    static func validate(_ kilobits: Int, _ option: String, in rates: ClosedRange<DataRate>) throws {
        guard rates.contains(.kilobitsPerSecond(kilobits)) else {
            let (least, most) = (rates.lowerBound.bitsPerSecond / 1000, rates.upperBound.bitsPerSecond / 1000)
            throw ValidationError("\(option) \(kilobits): give \(least) to \(most) kbit/s")
        }
    }
}
