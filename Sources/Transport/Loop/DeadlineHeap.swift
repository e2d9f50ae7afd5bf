internal import RTCShareWireFormat

/// Deadlines, of which the earliest is asked for: a binary heap whose members are moved, in place, to later and earlier
/// times.
///
/// What a member stands for lies all over memory, so that what is moved and compared here are numbers alone.
struct DeadlineHeap {
    /// A member's name, for as long as it is one: a small number, which is used again.
    typealias Row = Int

    private struct Node {
        var deadline: Instant
        let row: Row
    }

    /// Each deadline is no earlier than the one at half its position.
    private var nodes: [Node] = []
    /// Where each row stands among the nodes.
    private var positions: [Int] = []
    private var freeRows: [Row] = []

    /// How many members there are.
    var count: Int { nodes.count }

    /// The earliest deadline, and whose it is; nil without members.
    var first: (deadline: Instant, row: Row)? {
        nodes.first.map { ($0.deadline, $0.row) }
    }

    /// Takes a member in.
    mutating func insert(_ deadline: Instant) -> Row {
        let row = freeRows.popLast() ?? positions.count
        if row == positions.count { positions.append(0) }
        nodes.append(Node(deadline: deadline, row: row))
        rise(nodes.count - 1)
        return row
    }

    /// Gives a member another deadline.
    mutating func move(_ row: Row, to deadline: Instant) {
        let position = positions[row]
        let isEarlier = deadline < nodes[position].deadline
        nodes[position].deadline = deadline
        if isEarlier { rise(position) } else { sink(position) }
    }

    /// Lets a member go.
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
