internal import RTCShareSDP
internal import RTCShareWireFormat

/// The session's attributes that apply to its sections. They are read once, since a description can have many sections,
/// and many lines before them.
struct InheritedAttributes {
    let direction: DirectionAttribute?
    let setup: Result<SetupAttribute?, SDPError>
    /// The session's header extensions that this project knows.
    let extensionMaps: Result<[(uri: HeaderExtensionURI, map: ExtensionMapAttribute)], SDPError>
    /// The session's lowest bitrate limit.
    let maximumRate: DataRate?

    init(_ session: SessionDescription) {
        direction = session.direction
        setup = Result { () throws(SDPError) in try session.setup() }
        extensionMaps = Result { () throws(SDPError) in Self.known(try session.extensionMaps()) }
        maximumRate = Self.maximumRate(session.bandwidths)
    }

    /// Returns the header extensions that this project knows.
    static func known(
        _ maps: [ExtensionMapAttribute]
    ) -> [(uri: HeaderExtensionURI, map: ExtensionMapAttribute)] {
        maps.compactMap { map in HeaderExtensionURI(rawValue: map.uri).map { ($0, map) } }
    }

    /// Returns the lowest bitrate limit of the lines.
    static func maximumRate(_ bandwidths: [Bandwidth]) -> DataRate? {
        bandwidths.compactMap(\.rate).filter { $0 > .zero }.min()
    }
}
