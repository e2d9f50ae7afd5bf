extension Array {
    /// Removes and returns the first element. Returns nil if the array is empty.
    ///
    /// An array that becomes empty keeps no memory: a room has thousands of connections, each with many lists that are
    /// nearly always empty and are searched for every packet.
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
