internal import RTCShareSTUN
internal import RTCShareWireFormat

extension Agent {
    /// A request from a base to a STUN server for its mapped address.
    struct Gather: Sendable {
        let base: TransportAddress
        private(set) var server: ICEServerAddress
        /// Whether the server is only configured as a TURN server, which determines its report.
        private(set) var isImplied = false
        var isDone = false
        /// Whether the base was removed, so that another request can reuse this place.
        var isAbandoned = false
        var mapped: TransportAddress?
        var roundTripTime: Duration?
        var error: ServerError?
        /// The time of the next keepalive of the NAT binding, if there is one.
        var keepalive: Instant?

        init(base: TransportAddress, server: ICEServerAddress, isImplied: Bool) {
            self.base = base
            self.server = server
            self.isImplied = isImplied
        }

        /// Whether the server has failed.
        var hasFailed: Bool { isDone && error != nil }

        /// Replaces the implied STUN server with one that is configured for the same address.
        mutating func name(_ server: ICEServerAddress) {
            guard isImplied else { return }
            self.server = server
            isImplied = false
        }

        var report: ServerReport {
            ServerReport(
                server: server, base: base, outcome: error.map { .failed($0) } ?? (isDone ? .answered : .waiting),
                mappedAddress: mapped, relayedAddress: nil, lifetime: nil, roundTripTime: roundTripTime,
                alternateServer: nil)
        }
    }
}

/// The requests of bases to STUN and TURN servers, and the end of gathering. Each has an index, so that none is
/// removed, but places are reused.
struct ServerRequests: Sendable {
    var gathers: [Agent.Gather] = []
    var relays = Relays()
    /// The servers that receive no requests, with the reasons.
    private var unasked: [ServerFailure] = []
    /// Whether a working pair keeps the NAT bindings alive.
    private var keepalivesRest = false
    /// The time at which gathering is complete even without answers; nil if it is complete.
    private(set) var limit: Instant?
    /// The time at which gathering stops waiting for STUN servers.
    private(set) var reflexiveLimit: Instant?

    /// The number of requests to servers from all bases.
    var count: Int { gathers.count { !$0.isAbandoned } + relays.count }

    /// Whether gathering does not need to wait for any of them.
    var areSettled: Bool { gathers.allSatisfy { $0.isDone || $0.error != nil } && relays.areSettled }

    /// Returns the index of a base's request to a STUN server, whatever the server's URLs are.
    func order(of server: ICEServerAddress, from base: TransportAddress) -> Int? {
        gathers.firstIndex { $0.server.address == server.address && $0.base == base && !$0.isAbandoned }
    }

    /// Whether a server has a report from any base.
    func hasReport(of server: ICEServerAddress) -> Bool {
        reports.contains { $0.server.address == server.address && $0.server.transport == server.transport }
    }

    /// Whether a server sees a base as `address`.
    func isSeen(_ base: TransportAddress, as address: TransportAddress) -> Bool {
        gathers.contains { $0.base == base && $0.mapped == address && !$0.isAbandoned }
            || relays.isSeen(base, as: address)
    }

    /// The results of all servers.
    var reports: [ServerReport] {
        gathers.filter { !$0.isAbandoned && !$0.isImplied }.map(\.report) + relays.reports
            + unasked.map { failure in
                ServerReport(
                    server: failure.server, base: failure.base, outcome: .failed(failure.error), mappedAddress: nil,
                    relayedAddress: nil, lifetime: nil, roundTripTime: nil, alternateServer: nil)
            }
    }

    /// The times of the next actions.
    var deadlines: [Instant] {
        gathers.compactMap(\.keepalive) + relays.deadlines + [limit, reflexiveLimit].compactMap { $0 }
    }

    // Gathering.

    /// Waits until `limit`, and for STUN servers until `reflexive` at most.
    mutating func wait(until limit: Instant, reflexive: Instant?) {
        self.limit = limit
        if let reflexive { reflexiveLimit = reflexive }
    }

    /// Stops waiting for STUN servers.
    mutating func endReflexive() {
        reflexiveLimit = nil
    }

    /// Completes gathering.
    mutating func end() {
        (limit, reflexiveLimit) = (nil, nil)
    }

    /// Records that a server receives no requests. Returns whether the record is new.
    mutating func refuse(_ failure: ServerFailure) -> Bool {
        guard !unasked.contains(failure) else { return false }
        unasked.append(failure)
        return true
    }

    /// Adds a request to a STUN server. Returns its index.
    mutating func add(_ gather: Agent.Gather) -> Int {
        let index = gathers.firstIndex(where: \.isAbandoned) ?? gathers.count
        if index < gathers.count { gathers[index] = gather } else { gathers.append(gather) }
        return index
    }

    /// Starts a new request to a STUN server. Returns false if one is pending, or the base was removed.
    mutating func begin(_ index: Int) -> Bool {
        guard gathers[index].isDone, !gathers[index].isAbandoned else { return false }
        gathers[index].isDone = false
        gathers[index].error = nil
        return true
    }

    /// Enables or disables keepalives of NAT bindings. When they are enabled, all are due.
    mutating func setKeepalives(areNeeded: Bool, now: Instant) {
        guard areNeeded == keepalivesRest else { return }
        keepalivesRest = !areNeeded
        for index in gathers.indices where gathers[index].isDone && !gathers[index].isAbandoned {
            gathers[index].keepalive = areNeeded ? now : nil
        }
    }

    /// Records the answer of a STUN server.
    mutating func finishGather(_ index: Int, mapped: TransportAddress, roundTripTime: Duration?, keepalive: Instant) {
        gathers[index].isDone = true
        gathers[index].error = nil
        gathers[index].mapped = mapped
        if let roundTripTime { gathers[index].roundTripTime = roundTripTime }
        gathers[index].keepalive = keepalivesRest ? nil : keepalive
    }

    /// Records the failure of a STUN server. Returns the failure if the answer was pending.
    mutating func finishGather(_ index: Int, as error: ServerError) -> ServerFailure? {
        guard !gathers[index].isDone else { return nil }
        gathers[index].isDone = true
        return note(error, of: index)
    }

    /// Records that the system cannot send to a STUN server, which still receives further requests. Returns the failure
    /// if it is new.
    mutating func recordRefusal(_ index: Int) -> ServerFailure? {
        gathers[index].isDone ? nil : note(.unreachable, of: index)
    }

    private mutating func note(_ error: ServerError, of index: Int) -> ServerFailure? {
        guard gathers[index].error != error else { return nil }
        gathers[index].error = error
        guard !gathers[index].isImplied else { return nil }
        return ServerFailure(server: gathers[index].server, base: gathers[index].base, error: error)
    }

    /// Abandons the requests of a removed socket. Returns the relayed addresses that are lost with it.
    mutating func abandon(_ base: TransportAddress) -> [TransportAddress] {
        for index in gathers.indices where gathers[index].base == base {
            gathers[index].isDone = true
            gathers[index].isAbandoned = true
            gathers[index].keepalive = nil
        }
        return relays.abandon(base)
    }
}
