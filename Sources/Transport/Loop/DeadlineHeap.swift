internal import RTCShareWireFormat

/// A binary heap of deadlines, whose members are moved in place to later and earlier times.
///
/// The owners of deadlines are scattered in memory, so the heap moves and compares only numbers.
struct DeadlineHeap {
    /// The number of a member, which is small, and is reused after the member's removal.
    typealias Row = Int

    private struct Node {
        var deadline: Instant
        let row: Row
    }

    /// Each deadline is not earlier than the one at half its position.
    private var nodes: [Node] = []
    /// The position of each row among the nodes.
    private var positions: [Int] = []
    private var freeRows: [Row] = []

    /// The number of members.
    var count: Int { nodes.count }

    /// The earliest deadline with its row; nil without members.
    var first: (deadline: Instant, row: Row)? {
        nodes.first.map { ($0.deadline, $0.row) }
    }

    /// Inserts a member.
    mutating func insert(_ deadline: Instant) -> Row {
        let row = freeRows.popLast() ?? positions.count
        if row == positions.count { positions.append(0) }
        nodes.append(Node(deadline: deadline, row: row))
        rise(nodes.count - 1)
        return row
    }

    /// Changes the deadline of a member.
    mutating func move(_ row: Row, to deadline: Instant) {
        let position = positions[row]
        let isEarlier = deadline < nodes[position].deadline
        nodes[position].deadline = deadline
        if isEarlier { rise(position) } else { sink(position) }
    }

    /// Removes a member.
    mutating func remove(_ row: Row) {
        freeRows.append(row)
        let position = positions[row]
        let last = nodes.removeLast()
        guard last.row != row else { return }
        nodes[position] = last
        positions[last.row] = position
        rise(position)
        sink(positions[last.row])
    }

    private mutating func rise(_ start: Int) {
        var position = start
        let node = nodes[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.deadline < nodes[parent].deadline else { break }
            nodes[position] = nodes[parent]
            positions[nodes[position].row] = position
            position = parent
        }
        if position != start { nodes[position] = node }
        positions[node.row] = position
    }

    private mutating func sink(_ start: Int) {
        var position = start
        let node = nodes[position]
        while true {
            var child = 2 * position + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, nodes[child + 1].deadline < nodes[child].deadline { child += 1 }
            guard nodes[child].deadline < node.deadline else { break }
            nodes[position] = nodes[child]
            positions[nodes[position].row] = position
            position = child
        }
        if position != start { nodes[position] = node }
        positions[node.row] = position
    }
}
