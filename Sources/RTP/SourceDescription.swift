/// SDES: who the sources are (RFC 3550 §6.5).
public struct SourceDescription: Hashable, Sendable {
    /// What is said of each source.
    public var chunks: [Chunk]

    /// What is said of one source.
    public struct Chunk: Hashable, Sendable {
        /// The source.
        public var source: SynchronizationSource
        /// What is said of it, in order.
        public var items: [Item]

        /// A chunk of these items.
        public init(source: SynchronizationSource, items: [Item]) {
            self.source = source
            self.items = items
        }

        /// The CNAME, which names the participant across its sources; nil where the chunk has none.
        public var canonicalName: String? { items.first { $0.type == Item.canonicalNameType }?.text }
    }

    /// One thing said of a source.
    public struct Item: Hashable, Sendable {
        /// 1 for CNAME, others as RFC 3550 §12.2 and its registry number them; never 0.
        public var type: UInt8
        /// The value: UTF-8 for the items of RFC 3550, at most 255 bytes.
        public var value: [UInt8]

        /// An item with these bytes.
        public init(type: UInt8, value: [UInt8]) {
            self.type = type
            self.value = value
        }

        /// The value as text, with what is not UTF-8 replaced.
        public var text: String { String(decoding: value, as: UTF8.self) }

        /// The type of a CNAME item (RFC 3550 §6.5.1).
        public static let canonicalNameType: UInt8 = 1
    }

    /// Most items of one chunk that are read, far more than there are kinds in RFC 3550 §6.5: one of two bytes takes many
    /// more in memory.
    public static let maximumItemCount = 32

    /// A description of these chunks.
    public init(chunks: [Chunk]) {
        self.chunks = chunks
    }

    /// The description that every participant sends: the CNAME of one source.
    public init(source: SynchronizationSource, canonicalName: String) {
        let item = Item(type: Item.canonicalNameType, value: [UInt8](canonicalName.utf8))
        self.init(chunks: [Chunk(source: source, items: [item])])
    }

    /// The CNAME of a source; nil where it is not said.
    public func canonicalName(of source: SynchronizationSource) -> String? {
        chunks.first { $0.source == source }?.canonicalName
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        var chunks: [Chunk] = []
        for _ in 0..<count { chunks.append(try Self.chunk(&reader)) }
        self.chunks = chunks
    }

    /// Items end with a zero byte, and zeros up to the next multiple of four bytes; a chunk begins on such a multiple.
    private static func chunk(_ reader: inout FieldReader) throws(RTPError) -> Chunk {
        let start = reader.offset
        var chunk = Chunk(source: try reader.source(.sourceDescriptionChunk), items: [])
        while true {
            let type = try reader.uint8(.sourceDescriptionItem)
            if type == 0 { break }
            guard chunk.items.count < maximumItemCount else {
                throw .tooMany(.sourceDescriptionItem, limit: maximumItemCount, offset: reader.offset - 1)
            }
            let count = Int(try reader.uint8(.sourceDescriptionItem))
            chunk.items.append(Item(type: type, value: try reader.array(count, .sourceDescriptionItem)))
        }
        try reader.skip((4 - (reader.offset - start) % 4) % 4, .sourceDescriptionChunk)
        return chunk
    }
}

/// BYE: sources that leave (RFC 3550 §6.6).
public struct Goodbye: Hashable, Sendable {
    /// The sources that leave, at most 31.
    public var sources: [SynchronizationSource]
    /// Why, for people; nil where nothing is said. At most 255 bytes of UTF-8 are sent.
    public var reason: String?

    /// A farewell of these sources.
    public init(sources: [SynchronizationSource], reason: String? = nil) {
        self.sources = sources
        self.reason = reason
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        var sources: [SynchronizationSource] = []
        for _ in 0..<count { sources.append(try reader.source(.senderSource)) }
        self.sources = sources
        guard reader.remaining > 0 else { return }
        let length = Int(try reader.uint8(.goodbyeReason))
        reason = String(decoding: try reader.array(length, .goodbyeReason), as: UTF8.self)
    }
}

/// APP: something that only an application understands (RFC 3550 §6.7).
public struct ApplicationPacket: Hashable, Sendable {
    /// Five bits for the application.
    public var subtype: UInt8
    /// The source that sends it.
    public var source: SynchronizationSource
    /// Four ASCII characters, the first in the high byte.
    public var name: UInt32
    /// A multiple of four bytes for the application.
    public var data: [UInt8]

    /// A packet of these values.
    public init(subtype: UInt8, source: SynchronizationSource, name: UInt32, data: [UInt8]) {
        self.subtype = subtype
        self.source = source
        self.name = name
        self.data = data
    }

    init(_ reader: inout FieldReader, subtype: UInt8) throws(RTPError) {
        self.subtype = subtype
        source = try reader.source(.senderSource)
        name = try reader.uint32(.applicationName)
        data = reader.remainingArray()
    }
}
