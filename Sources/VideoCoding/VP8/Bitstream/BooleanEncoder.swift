/// An encoder of the Boolean values in a VP8 frame (RFC 6386 §7), each with its probability of being false.
struct BooleanEncoder {
    private(set) var bytes: [UInt8]
    /// The encoded value so far, above the window of eight bits that `range` divides.
    private var low: UInt64 = 0
    private var range: UInt32 = 255
    /// The number of bits of `low` above the window.
    private var pending = 0

    /// Creates an encoder that appends to `bytes` and reuses their memory.
    init(after bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// Writes one value. `probability` is that of false, in 256ths, 1 to 255.
    @inline(__always)
    mutating func write(_ bit: Bool, _ probability: UInt8) {
        pending &+= add(bit, probability)
        if pending >= 8 { emit() }
    }

    /// Divides the range by a value, and returns the number of new bits.
    @inline(__always)
    private mutating func add(_ bit: Bool, _ probability: UInt8) -> Int {
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
        return shift
    }

    /// Values that are written together in one step, for values that repeat.
    struct ValueGroup {
        fileprivate typealias Step = (range: UInt32, shift: Int, addend: UInt64)

        /// The effect of the values on an encoder, by its range: from 128 to 255.
        fileprivate let steps: [Step]

        /// Creates a group of at most four values, each with its probability of being false.
        init(_ values: [(bit: Bool, probability: UInt8)]) {
            steps = (128...255 as ClosedRange<UInt32>).map { range in
                var encoder = BooleanEncoder(after: [])
                encoder.range = range
                var shift = 0
                for value in values { shift += encoder.add(value.bit, value.probability) }
                return (encoder.range, shift, encoder.low)
            }
        }
    }

    /// Writes the values of a group.
    @inline(__always)
    mutating func write(_ group: borrowing ValueGroup) {
        let step = group.steps[Int(range) &- 128]
        low = low &<< UInt64(truncatingIfNeeded: step.shift) &+ step.addend
        range = step.range
        pending &+= step.shift
        while pending >= 8 { emit() }
    }

    /// Writes a number of `count` bits, the highest first, each with equal probability.
    mutating func writeLiteral(_ value: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(value >> bit & 1 == 1, 128) }
    }

    /// Writes many values, each as twice the index of its probability, plus one if it is true.
    mutating func write(_ decisions: UnsafeBufferPointer<UInt16>, _ probabilities: UnsafePointer<UInt8>) {
        // A value takes at most seven bits.
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: decisions.count * 7 / 8 + 16))
        var (low, range, pending) = (low, range, pending)
        let written = bytes.withUnsafeMutableBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return 0 }
            var target = first + start
            for decision in decisions {
                let split = 1 &+ ((range &- 1) &* UInt32(probabilities[Int(decision >> 1)])) >> 8
                // The value is unpredictable, so that computing is faster than branching.
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

    /// Propagates a carry into the bytes written so far.
    private static func carry(before end: UnsafeMutablePointer<UInt8>) {
        var place = end - 1
        while place.pointee == 0xFF {
            place.pointee = 0
            place -= 1
        }
        place.pointee += 1
    }

    /// Writes the remaining bits, and two zero bytes, since decoders read ahead.
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
            // A carry is added to the bytes written so far.
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
