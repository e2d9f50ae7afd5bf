import RTCShareRTP
import RTCShareWireFormat
import Testing

/// RFC 1982, for the numbers of RTP.
struct SerialNumberTests {
    @Test("One of two numbers less than half the range apart is newer, and neither at half the range")
    func order() {
        for start in [0, 1, 0x7FFF, 0x8000, 0xFFFF] as [UInt16] {
            let number = SequenceNumber(start)
            for distance in [1, 2, 0x7FFF] {
                let later = number.advanced(by: distance)
                #expect(later.isNewer(than: number) && !number.isNewer(than: later))
                #expect(later.distance(from: number) == distance && number.distance(from: later) == -distance)
            }
            let opposite = number.advanced(by: 0x8000)
            #expect(!opposite.isNewer(than: number) && !number.isNewer(than: opposite))
            #expect(!number.isNewer(than: number))
        }
    }

    @Test("Unwrapped numbers continue after a wrap, and an older number leaves the newest unchanged")
    func unwrapping() {
        var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
        let numbers: [UInt16] = [0xFFFE, 0xFFFF, 1, 0, 0x7000, 0xE000, 0x5000, 0x4FFF]
        let expected: [Int64] = [0xFFFE, 0xFFFF, 0x10001, 0x10000, 0x17000, 0x1E000, 0x25000, 0x24FFF]
        #expect(numbers.map { unwrapper.unwrap(SequenceNumber($0)) } == expected)
        #expect(unwrapper.peek(SequenceNumber(0x5001)) == 0x25001)
    }
}
