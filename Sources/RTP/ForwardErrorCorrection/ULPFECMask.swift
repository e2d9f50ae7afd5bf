/// The assignment of a frame's packets to its packets of forward error correction.
///
/// Each packet has a word, whose bits are the correction packets that cover it. Two lost packets with different words
/// can both be recovered, since some correction covers one of them but not the other. So the words differ as much as
/// possible. Words of two bits come first, since a packet and one of its corrections can be lost together. Words of one
/// bit, three bits and more follow, and then the list repeats.
package enum ULPFECMask {
    /// The maximum number of correction packets of a frame.
    package static let maximumCorrections = 12

    /// Returns the corrections, of `count` in total, that cover the packet `index` of a frame, as a bit mask.
    package static func corrections(ofPacket index: Int, count: Int) -> UInt16 {
        let words = words[min(max(1, count), maximumCorrections) - 1]
        return words[max(0, index) % words.count]
    }

    /// The words for each number of corrections, from one.
    private static let words: [[UInt16]] = (1...maximumCorrections).map { count in
        let all = (1..<(1 << count)).map { UInt16($0) }
        let byWeight = Dictionary(grouping: all) { $0.nonzeroBitCount }
        let order = [2, 1] + (3...maximumCorrections)
        return Array(order.flatMap { byWeight[$0] ?? [] }.prefix(ULPFECHeader.maximumPackets))
    }
}
