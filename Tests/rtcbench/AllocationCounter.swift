internal import Foundation
internal import RTCShareCAllocations

/// Counts the allocations of this process: those of Swift, of libsrtp2 and of the libraries below it.
///
/// The program defines `malloc` and its relatives, so that every library of the process calls these; they count and
/// call the C library's. Swift's runtime takes all its memory from them.
enum AllocationCounter {
    /// The number of allocations since the start of the process.
    static var count: UInt64 { allocation_count() }

    /// The result of a test of the counter.
    struct Trial: Codable {
        /// The number of intentional allocations: Swift arrays, Swift objects and C strings.
        let made: UInt64
        /// The number of allocations that were counted during that.
        let counted: UInt64
        /// The number of allocations that were counted in a loop of as many iterations without any.
        let countedWithout: UInt64
    }

    /// Shows that the counter works, before a zero can be trusted.
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

    /// Allocates an array, an object and a C string in each iteration; not inlined, so that the compiler can't remove
    /// them.
    @inline(never)
    private static func allocate(turns: Int) -> Int {
        var sum = 0
        for turn in 0..<turns {
            sum += element(of: array(count: 16 + turn % 2)) + value(of: object(turn))
            // Its length is used because the compiler removes memory that nobody reads.
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

/// The reason for a missing result.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
