internal import RTCShareSTUN
package import RTCShareWireFormat

/// A relayed address that an agent left at its server for another agent.
package struct RelayState: Hashable, Sendable {
    /// The server, with the credentials, which are needed again.
    package var server: ICEServerAddress
    /// The socket of the requests, whose address and port identify the allocation's owner to the server.
    package var base: TransportAddress
    /// The state of the allocation.
    package var allocation: AllocationState

    package init(server: ICEServerAddress, base: TransportAddress, allocation: AllocationState) {
        self.server = server
        self.base = base
        self.allocation = allocation
    }
}

extension Agent {
    /// Returns the states with which another agent can resume the relayed addresses. Only UDP allocations are included,
    /// since a connection ends with its process.
    package func relayStates(now: Instant) -> [RelayState] {
        asked.relays.kept(now: now)
    }

    /// Resumes relayed addresses that another agent left, from the same local addresses and ports. Each allocation that
    /// its server still has becomes a candidate again. Call it after the last ``addLocalHost(_:interfaceOrder:now:)``.
    /// Gathering is complete when every server has answered or timed out.
    package mutating func resume(_ kept: [RelayState], now: Instant) {
        guard isActive, asked.limit == nil else { return }
        for (order, relay) in kept.enumerated() { resume(relay, at: now.advanced(by: timing.pace * order)) }
        asked.wait(until: now.advanced(by: timing.relayGatherLimit), reflexive: nil)
        advance(now: now)
    }

    private mutating func resume(_ kept: RelayState, at start: Instant) {
        guard case .turn(let credentials) = kept.server.kind,
            let base = locals.socket(at: kept.base)
        else { return refuse(kept.server, from: kept.base, as: .localAddressGone) }
        guard asked.count < limits.servers else {
            return refuse(kept.server, from: kept.base, as: .overLimit)
        }
        let family: AddressFamily = kept.allocation.relayed.ip.isV4 ? .v4 : .v6
        let configuration = turnConfiguration(at: kept.server, credentials, family: family)
        do throws(ChallengeError) {
            let allocation = try TURNAllocation(
                resuming: kept.allocation, configuration: configuration, generator: generator)
            asked.relays.add(
                Relay(server: kept.server, base: base, allocation: allocation, start: start, mayChangeFamily: false))
        } catch {
            refuse(kept.server, from: kept.base, as: .relay(TURNError(error)))
        }
    }
}
