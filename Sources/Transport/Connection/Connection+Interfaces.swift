internal import Logging
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// Addresses that come and go while a connection runs.
extension Connection {
    /// Looks at what the interfaces have, and follows.
    func interfacesDidChange(addsNew: Bool) {
        guard let all = try? NetworkInterfaces.allAddresses() else { return }
        let usable = NetworkInterfaces.usable(of: all).map(\.ip)
        // All of 127.0.0.0/8 is this machine, whatever its interfaces say.
        interfacesDidChange(
            present: Set(all.map(\.ip) + peer.localAddresses.map(\.ip).filter(\.isLoopback)),
            new: addsNew ? usable.filter { !$0.isLoopback } : [])
    }

    /// Gives up the sockets of addresses that are not `present` any more, and all that went from there, and takes up
    /// `new` ones. An address that was given up is taken up again when it comes back.
    func interfacesDidChange(present: Set<IPAddress>, new: [IPAddress] = []) {
        guard !isClosed else { return }
        sockets.forgetRoutes()
        for address in Set(peer.localAddresses.map(\.ip)).subtracting(present) {
            logger.info("this machine has \(address) no longer")
            lostAddresses.insert(address)
            removeLocalAddress(address)
        }
        let back = lostAddresses.intersection(present)
        lostAddresses.subtract(back)
        let known = Set(peer.localAddresses.map(\.ip))
        for address in back.union(new) where !known.contains(address) {
            Task { await self.add(address) }
        }
    }

    /// Follows a shared port, which follows the interfaces.
    func sharedPortDid(_ change: SharedPort.AddressChange) {
        guard !isClosed else { return }
        switch change {
        case .added(let local):
            peer.addLocalAddress(local, now: MonotonicClock.now)
            didTakeUp(local.ip)
        case .removed(let local):
            sockets.remove(local)
            peer.removeLocalAddress(local, now: MonotonicClock.now)
        }
        drain()
    }

    private func didTakeUp(_ address: IPAddress) {
        logger.info("this machine has a new address: \(address)")
        for address in configuration.publicAddresses { peer.addPublicAddress(address, now: MonotonicClock.now) }
        // How it looks from outside, and relays that are reached from it.
        if servers.areAsked { askServers() }
    }

    private func add(_ address: IPAddress) async {
        do {
            try await addLocalAddress(address, port: configuration.port)
            didTakeUp(address)
        } catch {
            // It may not be fit for use yet: the next change has it tried again.
            lostAddresses.insert(address)
            logger.info("\(error)")
        }
    }
}
