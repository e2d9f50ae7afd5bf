/// Writes the decisions of a VP8 frame (RFC 6386 §7), each with the probability that it is false.
struct BooleanEncoder {
    private(set) var bytes: [UInt8]
    /// What is decided so far, above the window of eight bits that `range` divides.
    private var low: UInt64 = 0
    private var range: UInt32 = 255
    /// Bits of `low` above the window.
    private var pending = 0

    /// `bytes` are what stands before, and their memory is used on.
    init(after bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// One decision; `probability` is that of false, in 256ths, 1 to 255.
    @inline(__always)
    mutating func write(_ bit: Bool, _ probability: UInt8) {
        let split = 1 + ((range &- 1) &* UInt32(probability)) >> 8
        if bit {
            low &+= UInt64(split)
            range &-= split
        } else {
            range = split
        }
        let shift = range.leadingZeroBitCount &- 24
        range <<= UInt32(shift)
        low <<= UInt64(shift)
        pending &+= shift
        if pending >= 8 { emit() }
    }

    /// A number of `count` bits, the highest first, each as likely as not.
    mutating func writeLiteral(_ value: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(value >> bit & 1 == 1, 128) }
    }

    /// Many decisions, each twice the place of its probability, and one more where it is true.
    mutating func write(_ decisions: UnsafeBufferPointer<UInt16>, _ probabilities: UnsafePointer<UInt8>) {
        // A decision takes seven bits at most.
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: decisions.count * 7 / 8 + 16))
        var (low, range, pending) = (low, range, pending)
        let written = bytes.withUnsafeMutableBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return 0 }
            var target = first + start
            for decision in decisions {
                let split = 1 &+ ((range &- 1) &* UInt32(probabilities[Int(decision >> 1)])) >> 8
                // Which of both it is nobody can foresee: better computed than jumped to.
                let mask = 0 &- UInt32(decision & 1)
                low &+= UInt64(split & mask)
                range = split ^ ((split ^ (range &- split)) & mask)
                let shift = range.leadingZeroBitCount &- 24
                range = range &<< UInt32(truncatingIfNeeded: shift)
                low = low &<< UInt64(truncatingIfNeeded: shift)
                pending &+= shift
                guard pending >= 32 else { continue }
                pending &-= 32
                let value = low &>> UInt64(truncatingIfNeeded: pending &+ 8)
                low &= (1 &<< UInt64(truncatingIfNeeded: pending &+ 8)) &- 1
                if value >> 32 != 0 { Self.carry(before: target) }
                UnsafeMutableRawPointer(target).storeBytes(
                    of: UInt32(truncatingIfNeeded: value).bigEndian, as: UInt32.self)
                target += 4
            }
            return target - first
        }
        bytes.removeLast(bytes.count - written)
        (self.low, self.range, self.pending) = (low, range, pending)
        while self.pending >= 8 { emit() }
    }

    /// The sum ran over: what was written is one more.
    private static func carry(before end: UnsafeMutablePointer<UInt8>) {
        var place = end - 1
        while place.pointee == 0xFF {
            place.pointee = 0
            place -= 1
        }
        place.pointee += 1
    }

    /// Writes what is left. Two bytes of zeros follow: decoders look ahead.
    consuming func finish() -> [UInt8] {
        for _ in 0..<4 {
            low <<= UInt64(8 - pending)
            pending = 8
            emit()
        }
        return bytes
    }

    private mutating func emit() {
        pending &-= 8
        let value = low >> UInt64(pending &+ 8)
        low &= (1 << UInt64(pending &+ 8)) &- 1
        if value > 0xFF {
            // The sum ran over: what was written is one more.
            var index = bytes.count - 1
            while bytes[index] == 0xFF {
                bytes[index] = 0
                index -= 1
            }
            bytes[index] += 1
        }
        bytes.append(UInt8(truncatingIfNeeded: value))
    }
}
