extension Array {
    /// Takes the first element out; nil where there is none.
    ///
    /// Without elements the array keeps no memory: a room has thousands of connections, each with many lists that are
    /// empty nearly always, and are asked for every packet.
    @inlinable
    public mutating func takeFirst() -> Element? {
        guard count > 1 else {
            guard let only = first else { return nil }
            self = []
            return only
        }
        return removeFirst()
    }
}
