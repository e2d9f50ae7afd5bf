import RTCShareRTP
import RTCShareWireFormat
import Testing

/// RFC 1982, for the numbers of RTP.
struct SerialNumberTests {
    @Test("Of two numbers that are less than half of all apart one is newer, and of those that are half apart neither")
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

    @Test("Numbers that wrap go on counting, and an older one leaves the newest as it is")
    func unwrapping() {
        var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
        let numbers: [UInt16] = [0xFFFE, 0xFFFF, 1, 0, 0x7000, 0xE000, 0x5000, 0x4FFF]
        let expected: [Int64] = [0xFFFE, 0xFFFF, 0x10001, 0x10000, 0x17000, 0x1E000, 0x25000, 0x24FFF]
        #expect(numbers.map { unwrapper.unwrap(SequenceNumber($0)) } == expected)
        #expect(unwrapper.peek(SequenceNumber(0x5001)) == 0x25001)
    }
}
