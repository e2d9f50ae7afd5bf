internal import Foundation
internal import RTCShareCAllocations

/// Counts the allocations of this process, Swift's, libsrtp2's and those of the libraries below it alike.
///
/// The program has `malloc` and its relatives under its own name, so that every library of the process calls those;
/// they count and pass the call on to the C library. Swift's runtime takes all its memory from them.
enum AllocationCounter {
    /// Allocations since the process began.
    static var count: UInt64 { allocation_count() }

    /// What a trial made and what was counted of it.
    struct Trial: Codable {
        /// Allocations that were made on purpose: Swift arrays, Swift objects and C strings.
        let made: UInt64
        /// Allocations that were counted meanwhile.
        let counted: UInt64
        /// Allocations that were counted in a loop of as many turns that makes none.
        let countedWithout: UInt64
    }

    /// Shows that the counter sees what it must, before anything is believed of a zero.
    static func check() throws -> Trial {
        let turns = 1000
        _ = allocate(turns: 1)
        let start = count
        let kept = allocate(turns: turns)
        let middle = count
        let sum = allocateNothing(turns: turns)
        let end = count
        let trial = Trial(made: UInt64(turns) * 3, counted: middle - start, countedWithout: end - middle)
        guard kept > 0, sum > 0, trial.counted == trial.made, trial.countedWithout == 0 else {
            throw BenchmarkFailure(
                "the allocation counter does not work here: of \(trial.made) allocations made on purpose it counted "
                    + "\(trial.counted), and \(trial.countedWithout) where there were none. Another library may have "
                    + "replaced malloc: run rtcbench without LD_PRELOAD.")
        }
        return trial
    }

    private final class Object {
        let value: Int
        init(_ value: Int) { self.value = value }
    }

    /// An array, an object and a C string in every turn; not inlined, so that the compiler can't prove them needless.
    @inline(never)
    private static func allocate(turns: Int) -> Int {
        var sum = 0
        for turn in 0..<turns {
            sum += element(of: array(count: 16 + turn % 2)) + value(of: object(turn))
            // Its length is asked for because memory that nobody reads is memory that the compiler doesn't ask for.
            let text = strdup("a string of the C library's making")
            sum += text.map { strlen($0) } ?? 0
            free(text)
        }
        return sum
    }

    @inline(never)
    private static func allocateNothing(turns: Int) -> Int {
        var sum = 0
        for turn in 0..<turns { sum &+= turn &* 31 ^ sum }
        return sum
    }

    @inline(never)
    private static func array(count: Int) -> [Int] { Array(repeating: count, count: count) }
    @inline(never)
    private static func element(of array: [Int]) -> Int { array[array.count - 1] }
    @inline(never)
    private static func object(_ value: Int) -> Object { Object(value) }
    @inline(never)
    private static func value(of object: Object) -> Int { object.value }
}

/// Why no figure could be had.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
