import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

@Suite struct DeadlineHeapTests {
    /// Compared with a table that is searched linearly.
    @Test("The earliest deadline is first after all orders of moves and removals", arguments: [UInt64(1), 2, 3, 4])
    func earliestDeadlineFirst(
        seed: UInt64
    ) {
        var random = Steps(state: seed)
        var heap = DeadlineHeap()
        var table: [DeadlineHeap.Row: Instant] = [:]
        for _ in 0..<5000 {
            let deadline = Instant(nanoseconds: Int64(random.next() % 1000))
            switch random.next() % 4 {
            case 0,
                1 where table.count < 40:
                let row = heap.insert(deadline)
                #expect(table[row] == nil)
                table[row] = deadline
            case 2:
                guard let row = table.keys.sorted().first(where: { _ in random.next() % 3 == 0 }) else { continue }
                heap.remove(row)
                table[row] = nil
            default:
                guard let row = table.keys.sorted().last(where: { _ in random.next() % 3 == 0 }) else { continue }
                heap.move(row, to: deadline)
                table[row] = deadline
            }
            #expect(heap.count == table.count)
            #expect(heap.first?.deadline == table.values.min())
            if let first = heap.first { #expect(table[first.row] == first.deadline) }
        }
        // And it empties in order.
        var before = Instant(nanoseconds: .min)
        while let (deadline, row) = heap.first {
            #expect(deadline >= before)
            before = deadline
            heap.remove(row)
        }
    }

    @Test("Rows of removed members are reused")
    func reusedRows() {
        var heap = DeadlineHeap()
        let rows = (0..<8).map { heap.insert(Instant(nanoseconds: Int64($0))) }
        for row in rows { heap.remove(row) }
        #expect(heap.first == nil)
        #expect(Set((0..<8).map { heap.insert(Instant(nanoseconds: Int64($0))) }) == Set(rows))
    }

    private struct Steps {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
