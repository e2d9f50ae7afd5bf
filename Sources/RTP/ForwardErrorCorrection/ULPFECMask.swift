/// Which packets of forward error correction protect which packet of a frame.
///
/// Each packet is given a word, whose bits are the packets of correction that it goes into. Two lost packets with different
/// words can both be made again: some correction has one of them and not the other. So the words are as different as
/// can be, those of two bits first, that one packet and one of its corrections may be lost together; then those of one,
/// of three, and so on, and then again from the first.
package enum ULPFECMask {
    /// The most packets of correction that a frame has.
    package static let maximumCorrections = 12

    /// The corrections that the packet `index` of a frame goes into, of `count`, bit by bit.
    package static func corrections(ofPacket index: Int, count: Int) -> UInt16 {
        let words = words[min(max(1, count), maximumCorrections) - 1]
        return words[max(0, index) % words.count]
    }

    /// By how many corrections there are, from one.
    private static let words: [[UInt16]] = (1...maximumCorrections).map { count in
        let all = (1..<(1 << count)).map { UInt16($0) }
        let byWeight = Dictionary(grouping: all) { $0.nonzeroBitCount }
        let order = [2, 1] + (3...maximumCorrections)
        return Array(order.flatMap { byWeight[$0] ?? [] }.prefix(ULPFECHeader.maximumPackets))
    }
}
