internal import RTCShareSTUN
package import RTCShareWireFormat

/// A relayed address that its agent left with the server, for another agent to take up.
package struct RelayState: Hashable, Sendable {
    /// The server that relays, whose credentials are needed again.
    package var server: ICEServerAddress
    /// The socket that asked: by its address and port the server knows who takes it up.
    package var base: TransportAddress
    /// What the server holds.
    package var allocation: AllocationState

    /// A relayed address that was kept.
    package init(server: ICEServerAddress, base: TransportAddress, allocation: AllocationState) {
        self.server = server
        self.base = base
        self.allocation = allocation
    }
}

extension Agent {
    /// What is to be remembered of the relayed addresses for another agent to take them up: those over UDP alone, as a
    /// connection ends with who opened it.
    package func relayStates(now: Instant) -> [RelayState] {
        asked.relays.kept(now: now)
    }

    /// Takes up relayed addresses that another agent left, from the same local addresses and ports: each that its server
    /// still holds is a candidate again. To be called after the last ``addLocalHost(_:interfaceOrder:now:)``; gathering is
    /// complete when every server has answered or was given up.
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
