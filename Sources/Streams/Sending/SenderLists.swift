/// A sender of a group.
protocol GroupMember: AnyObject, Identifiable {
    associatedtype State
    /// The state, which only its group changes.
    var state: State { get set }
    /// Its index in the ``SenderLists``.
    var position: Int { get set }
    /// The event loop, whose senders send a frame together.
    var loop: ObjectIdentifier { get }
    /// The senders of the further layers of its simulcast; usually none.
    var layers: [Self] { get }
}

/// The active senders, in a list for each event loop. The lists change with the senders' phases, not with frames.
struct SenderLists<Sender: GroupMember> {
    private(set) var lists: [[Sender]] = []

    private func index(of loop: ObjectIdentifier) -> Int? { lists.firstIndex { $0[0].loop == loop } }

    mutating func insert(_ sender: Sender) {
        guard let index = index(of: sender.loop) else {
            sender.position = 0
            lists.append([sender])
            return
        }
        sender.position = lists[index].count
        lists[index].append(sender)
    }

    /// Removes a sender from its list.
    mutating func remove(_ sender: Sender) {
        guard let index = index(of: sender.loop), let last = lists[index].popLast() else { return }
        if last !== sender {
            lists[index][sender.position] = last
            last.position = sender.position
        }
        if lists[index].isEmpty { lists.remove(at: index) }
    }
}
