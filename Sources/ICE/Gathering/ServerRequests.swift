internal import RTCShareSTUN
internal import RTCShareWireFormat

extension Agent {
    /// A base that asks a STUN server what it looks like from outside.
    struct Gather: Sendable {
        let base: TransportAddress
        private(set) var server: ICEServerAddress
        /// Whether the server is named as a TURN server alone: as such it is reported.
        private(set) var isImplied = false
        var isDone = false
        /// Whether its base is gone: another may take its place.
        var isAbandoned = false
        var mapped: TransportAddress?
        var roundTripTime: Duration?
        var error: ServerError?
        /// When the binding is next kept alive, if there is one.
        var keepalive: Instant?

        init(base: TransportAddress, server: ICEServerAddress, isImplied: Bool) {
            self.base = base
            self.server = server
            self.isImplied = isImplied
        }

        /// Whether the server gave nothing.
        var hasFailed: Bool { isDone && error != nil }

        /// Takes the name of a server that is asked already as the TURN server that it is too.
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

/// The STUN and TURN servers that bases ask, and until when gathering waits for them. What asks is known by its index: none
/// is removed, but places are used again.
struct ServerRequests: Sendable {
    var gathers: [Agent.Gather] = []
    var relays = Relays()
    /// Servers that nothing was asked of, and why.
    private var unasked: [ServerFailure] = []
    /// Whether a pair that works keeps bindings alive.
    private var keepalivesRest = false
    /// When gathering is complete, whoever has not answered; nil where it is.
    private(set) var limit: Instant?
    /// When STUN servers are waited for no longer.
    private(set) var reflexiveLimit: Instant?

    /// How often a server is asked, by whatever base.
    var count: Int { gathers.count { !$0.isAbandoned } + relays.count }

    /// Whether gathering need not wait for any of them.
    var areSettled: Bool { gathers.allSatisfy { $0.isDone || $0.error != nil } && relays.areSettled }

    /// By which a base asks a STUN server, whatever the URLs that lead there.
    func order(of server: ICEServerAddress, from base: TransportAddress) -> Int? {
        gathers.firstIndex { $0.server.address == server.address && $0.base == base && !$0.isAbandoned }
    }

    /// Whether something is known of a server, from whichever base.
    func hasReport(of server: ICEServerAddress) -> Bool {
        reports.contains { $0.server.address == server.address && $0.server.transport == server.transport }
    }

    /// Whether a server sees a base as `address`.
    func isSeen(_ base: TransportAddress, as address: TransportAddress) -> Bool {
        gathers.contains { $0.base == base && $0.mapped == address && !$0.isAbandoned }
            || relays.isSeen(base, as: address)
    }

    /// What each has answered.
    var reports: [ServerReport] {
        gathers.filter { !$0.isAbandoned && !$0.isImplied }.map(\.report) + relays.reports
            + unasked.map { failure in
                ServerReport(
                    server: failure.server, base: failure.base, outcome: .failed(failure.error), mappedAddress: nil,
                    relayedAddress: nil, lifetime: nil, roundTripTime: nil, alternateServer: nil)
            }
    }

    /// When there is something to do.
    var deadlines: [Instant] {
        gathers.compactMap(\.keepalive) + relays.deadlines + [limit, reflexiveLimit].compactMap { $0 }
    }

    // Gathering.

    /// Has gathering wait, for STUN servers until `reflexive` at most.
    mutating func wait(until limit: Instant, reflexive: Instant?) {
        self.limit = limit
        if let reflexive { reflexiveLimit = reflexive }
    }

    /// Waits for STUN servers no longer.
    mutating func endReflexive() {
        reflexiveLimit = nil
    }

    /// Gathering is complete.
    mutating func end() {
        (limit, reflexiveLimit) = (nil, nil)
    }

    /// Takes note that a server is not asked; whether that is news.
    mutating func refuse(_ failure: ServerFailure) -> Bool {
        guard !unasked.contains(failure) else { return false }
        unasked.append(failure)
        return true
    }

    /// Adds what asks a STUN server; its index.
    mutating func add(_ gather: Agent.Gather) -> Int {
        let index = gathers.firstIndex(where: \.isAbandoned) ?? gathers.count
        if index < gathers.count { gathers[index] = gather } else { gathers.append(gather) }
        return index
    }

    /// Begins to wait for a STUN server's answer again; false where it is waited for, or nobody is to ask.
    mutating func begin(_ index: Int) -> Bool {
        guard gathers[index].isDone, !gathers[index].isAbandoned else { return false }
        gathers[index].isDone = false
        gathers[index].error = nil
        return true
    }

    /// Has bindings kept alive, or not. Once they are needed again, all are due.
    mutating func setKeepalives(areNeeded: Bool, now: Instant) {
        guard areNeeded == keepalivesRest else { return }
        keepalivesRest = !areNeeded
        for index in gathers.indices where gathers[index].isDone && !gathers[index].isAbandoned {
            gathers[index].keepalive = areNeeded ? now : nil
        }
    }

    /// A STUN server has answered.
    mutating func finishGather(_ index: Int, mapped: TransportAddress, roundTripTime: Duration?, keepalive: Instant) {
        gathers[index].isDone = true
        gathers[index].error = nil
        gathers[index].mapped = mapped
        if let roundTripTime { gathers[index].roundTripTime = roundTripTime }
        gathers[index].keepalive = keepalivesRest ? nil : keepalive
    }

    /// A STUN server gives nothing; what is to be said of it, where it was still waited for.
    mutating func finishGather(_ index: Int, as error: ServerError) -> ServerFailure? {
        guard !gathers[index].isDone else { return nil }
        gathers[index].isDone = true
        return note(error, of: index)
    }

    /// The system refuses to send to a STUN server, which is asked again all the same; the failure, where that is news.
    mutating func recordRefusal(_ index: Int) -> ServerFailure? {
        gathers[index].isDone ? nil : note(.unreachable, of: index)
    }

    private mutating func note(_ error: ServerError, of index: Int) -> ServerFailure? {
        guard gathers[index].error != error else { return nil }
        gathers[index].error = error
        guard !gathers[index].isImplied else { return nil }
        return ServerFailure(server: gathers[index].server, base: gathers[index].base, error: error)
    }

    /// A socket is gone: nothing is asked from it any more. Returns the relayed addresses that are gone with it.
    mutating func abandon(_ base: TransportAddress) -> [TransportAddress] {
        for index in gathers.indices where gathers[index].base == base {
            gathers[index].isDone = true
            gathers[index].isAbandoned = true
            gathers[index].keepalive = nil
        }
        return relays.abandon(base)
    }
}
