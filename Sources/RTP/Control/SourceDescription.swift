/// SDES: descriptions of sources (RFC 3550 §6.5).
package struct SourceDescription: Hashable, Sendable {
    /// The descriptions, one for each source.
    package var chunks: [Chunk]

    /// The description of one source.
    package struct Chunk: Hashable, Sendable {
        /// The described source.
        package var source: SynchronizationSource
        /// The items of the description, in order.
        package var items: [Item]

        package init(source: SynchronizationSource, items: [Item]) {
            self.source = source
            self.items = items
        }

        /// The CNAME, which identifies the participant across its sources; nil if the chunk has none.
        package var canonicalName: String? { items.first { $0.type == Item.canonicalNameType }?.text }

        /// The subgroup to which the source is shared; nil if the chunk names none.
        package var subgroup: String? { items.lazy.compactMap(\.subgroup).first }
    }

    /// One item of a source's description.
    package struct Item: Hashable, Sendable {
        /// The type: 1 for CNAME, other numbers as in RFC 3550 §12.2 and its registry; never 0.
        package var type: UInt8
        /// The value: UTF-8 for the items of RFC 3550, at most 255 bytes.
        package var value: [UInt8]

        package init(type: UInt8, value: [UInt8]) {
            self.type = type
            self.value = value
        }

        /// The value as text, in which U+FFFD replaces invalid UTF-8.
        package var text: String { String(decoding: value, as: UTF8.self) }

        /// The type of a CNAME item (RFC 3550 §6.5.1).
        package static let canonicalNameType: UInt8 = 1
        /// The type of an item that an application defines: a prefix, preceded by its length, and a value (RFC 3550
        /// §6.5.8).
        package static let privateType: UInt8 = 8

        /// The prefix of the item that names a subgroup.
        private static let subgroupPrefix = Array("subgroup".utf8)

        /// Creates the item that names a subgroup. At most 64 bytes of the name are used.
        package init(subgroup: String) {
            let prefix = [UInt8(Self.subgroupPrefix.count)] + Self.subgroupPrefix
            self.init(type: Self.privateType, value: prefix + Array(subgroup.utf8.prefix(64)))
        }

        /// The subgroup that the item names; nil for another item.
        var subgroup: String? {
            let prefix = [UInt8(Self.subgroupPrefix.count)] + Self.subgroupPrefix
            guard type == Self.privateType, value.starts(with: prefix) else { return nil }
            return String(validating: value.dropFirst(prefix.count), as: UTF8.self)
        }
    }

    /// The maximum number of items that are read from one chunk, far more than the types in RFC 3550 §6.5. An item of
    /// two bytes takes many more in memory.
    package static let maximumItemCount = 32

    package init(chunks: [Chunk]) {
        self.chunks = chunks
    }

    /// Creates the description that every participant sends: the CNAME of one source, and optionally the subgroup to
    /// which the source is shared.
    package init(source: SynchronizationSource, canonicalName: String, subgroup: String? = nil) {
        let name = Item(type: Item.canonicalNameType, value: [UInt8](canonicalName.utf8))
        let items = [name] + (subgroup.map { [Item(subgroup: $0)] } ?? [])
        self.init(chunks: [Chunk(source: source, items: items)])
    }

    /// Returns the CNAME of a source; nil if the description has none.
    package func canonicalName(of source: SynchronizationSource) -> String? {
        chunks.first { $0.source == source }?.canonicalName
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        var chunks: [Chunk] = []
        for _ in 0..<count { chunks.append(try Self.chunk(&reader)) }
        self.chunks = chunks
    }

    /// Parses a chunk. A zero byte ends its items, and zeros pad it to a multiple of four bytes, at which a chunk also
    /// begins.
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
package struct Goodbye: Hashable, Sendable {
    /// The sources that leave, at most 31.
    package var sources: [SynchronizationSource]
    /// The reason for leaving, for people; nil if there is none. At most 255 bytes of UTF-8 are sent.
    package var reason: String?

    package init(sources: [SynchronizationSource], reason: String? = nil) {
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

/// APP: data that only an application understands (RFC 3550 §6.7).
package struct ApplicationPacket: Hashable, Sendable {
    /// A five-bit value that the application defines.
    package var subtype: UInt8
    /// The source that sends the packet.
    package var source: SynchronizationSource
    /// The packet's name: four ASCII characters, the first one in the high byte.
    package var name: UInt32
    /// The application's data, a multiple of four bytes.
    package var data: [UInt8]

    package init(subtype: UInt8, source: SynchronizationSource, name: UInt32, data: [UInt8]) {
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
