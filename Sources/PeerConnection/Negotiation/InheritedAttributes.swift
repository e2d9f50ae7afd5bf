internal import RTCShareSDP
internal import RTCShareWireFormat

/// What a session says for those of its sections that don't say it themselves, or beside what they say. It is read once:
/// a description may have many sections, and many lines before them.
struct InheritedAttributes {
    let direction: DirectionAttribute?
    let setup: Result<SetupAttribute?, SDPError>
    /// The maps of header extensions that this project knows.
    let extensionMaps: Result<[(uri: HeaderExtensionURI, map: ExtensionMapAttribute)], SDPError>
    /// The lowest rate that the session sets.
    let maximumRate: DataRate?

    init(_ session: SessionDescription) {
        direction = session.direction
        setup = Result { () throws(SDPError) in try session.setup() }
        extensionMaps = Result { () throws(SDPError) in Self.known(try session.extensionMaps()) }
        maximumRate = Self.maximumRate(session.bandwidths)
    }

    /// Those of header extensions that this project knows.
    static func known(
        _ maps: [ExtensionMapAttribute]
    ) -> [(uri: HeaderExtensionURI, map: ExtensionMapAttribute)] {
        maps.compactMap { map in HeaderExtensionURI(rawValue: map.uri).map { ($0, map) } }
    }

    /// The lowest rate that lines set.
    static func maximumRate(_ bandwidths: [Bandwidth]) -> DataRate? {
        bandwidths.compactMap(\.rate).filter { $0 > .zero }.min()
    }
}
