internal import RTCShareICE
package import RTCShareSDP

/// A kind of route from a viewer to a share. A diagnosis tests each of them in a connection of its own.
package enum RouteKind: String, CaseIterable, Sendable, Encodable {
    /// UDP to an address of the share's machine.
    case direct
    /// UDP to a public address of the share that a STUN server reported, or that a router forwards.
    case reflexive
    /// A TCP connection to the share.
    case tcp
    /// A TURN server.
    case relay

    /// The time in which a route of this kind is found, if there is one. A TURN server is asked first.
    package var patience: Duration { self == .relay ? .seconds(8) : .seconds(5) }

    /// Whether STUN or TURN servers are asked for candidates.
    package var needsServers: Bool { self == .reflexive || self == .relay }
}

/// The candidates of a connection that uses only one kind of route.
package struct RouteFilter: Sendable {
    /// The kind of route.
    package let kind: RouteKind
    /// Whether the viewer has a TURN server, which reaches all UDP candidates. Without one, a relay is the share's.
    package let hasOwnRelay: Bool

    package init(_ kind: RouteKind, hasOwnRelay: Bool = false) {
        self.kind = kind
        self.hasOwnRelay = hasOwnRelay
    }

    /// Returns whether a candidate of the share belongs to a route of this kind.
    package func includes(_ candidate: CandidateAttribute) -> Bool {
        switch kind {
        case .direct: candidate.isUDP && candidate.kind == .host
        case .reflexive: candidate.isUDP && candidate.kind == .serverReflexive
        case .tcp: candidate.tcpType == "passive"
        case .relay: candidate.isUDP && (hasOwnRelay || candidate.kind == .relayed)
        }
    }

    /// Returns whether the share learns a candidate of the viewer. It would check any, and so make another route.
    package func reveals(_ candidate: CandidateAttribute) -> Bool {
        switch kind {
        case .direct: candidate.isUDP && candidate.kind == .host
        case .reflexive: candidate.isUDP && (candidate.kind == .host || candidate.kind == .serverReflexive)
        case .tcp: false
        case .relay: candidate.isUDP && (!hasOwnRelay || candidate.kind == .relayed)
        }
    }
}

extension SessionDescription {
    /// The candidates of all sections, without malformed ones.
    package var readableCandidates: [CandidateAttribute] {
        media.flatMap(\.lines).compactMap { line in
            line.attributeName == "candidate" ? line.attributeValue.flatMap { CandidateAttribute($0) } : nil
        }
    }

    /// Returns the description without the candidates that are not kept.
    package func keepingCandidates(where isKept: (CandidateAttribute) -> Bool) -> SessionDescription {
        var description = self
        for index in description.media.indices {
            description.media[index].lines.removeAll { line in
                guard line.attributeName == "candidate", let value = line.attributeValue else { return false }
                return CandidateAttribute(value).map { !isKept($0) } ?? true
            }
        }
        return description
    }
}

extension Connection.Configuration {
    /// Returns the configuration of a viewer who uses only one kind of route.
    package func usingOnly(_ filter: RouteFilter) -> Self {
        var configuration = self
        configuration.acceptsTCP = false
        if !filter.kind.needsServers { configuration.iceServers = [] }
        if filter.kind == .relay, filter.hasOwnRelay { configuration.iceTransportPolicy = .relay }
        return configuration
    }
}
