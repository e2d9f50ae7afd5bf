internal import Logging
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// Changes of the machine's addresses while a connection exists.
extension Connection {
    /// Reads the interfaces' addresses, and applies the changes.
    func interfacesDidChange(addsNew: Bool) {
        guard let all = try? NetworkInterfaces.allAddresses() else { return }
        let usable = NetworkInterfaces.usable(of: all).map(\.ip)
        // All of 127.0.0.0/8 is this machine, whatever its interfaces report.
        interfacesDidChange(
            present: Set(all.map(\.ip) + peer.localAddresses.map(\.ip).filter(\.isLoopback)),
            new: addsNew ? usable.filter { !$0.isLoopback } : [])
    }

    /// Closes the sockets of addresses that are not `present` any more, with everything sent from there, and opens
    /// sockets for `new` ones. A removed address is used again when it returns.
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
        findTranslation()
        // A route may lead elsewhere, for example into a tunnel, so that the pair in use is dead in spite of its address.
        checkConsent()
    }

    /// Finds out how the network translates IPv4 addresses, if this machine has none.
    func findTranslation() {
        guard !isClosed else { return }
        guard NetworkInterfaces.areOnlyIPv6(localAddresses.map(\.ip)) else {
            return peer.setTranslation(nil, now: MonotonicClock.now)
        }
        Task { [weak self, names = configuration.serverNames] in
            let prefix = await names.translation()
            await self?.use(prefix)
        }
    }

    private func use(_ prefix: NAT64Prefix?) {
        guard !isClosed, NetworkInterfaces.areOnlyIPv6(localAddresses.map(\.ip)) else { return }
        peer.setTranslation(prefix, now: MonotonicClock.now)
        drain()
    }

    /// Applies a change of a shared port, which watches the interfaces itself.
    func sharedPortDid(_ change: SharedPort.AddressChange) {
        guard !isClosed else { return }
        switch change {
        case .added(let local):
            addSharedAddress(local)
            didTakeUp(local.ip)
        case .removed(let local):
            sockets.remove(local)
            if let listener = sockets.listener(at: local.ip) {
                peer.removeListener(listener, now: MonotonicClock.now)
            }
            peer.removeLocalAddress(local, now: MonotonicClock.now)
        case .forwarded(let outside, let base, let former):
            peer.addForwardedAddress(outside, to: base, insteadOf: former, now: MonotonicClock.now)
        case .routes:
            sockets.forgetRoutes()
            peer.checkConsent(now: MonotonicClock.now)
        }
        findTranslation()
        drain()
    }

    private func didTakeUp(_ address: IPAddress) {
        logger.info("this machine has a new address: \(address)")
        findTranslation()
        for address in configuration.publicAddresses { peer.addPublicAddress(address, now: MonotonicClock.now) }
        // Its public address, and relays that are reached from it.
        if servers.areAsked { askServers() }
    }

    private func add(_ address: IPAddress) async {
        do {
            try await addLocalAddress(address, port: configuration.port)
            didTakeUp(address)
        } catch {
            // It may not be usable yet: the next change triggers a retry.
            lostAddresses.insert(address)
            logger.info("\(error)")
        }
    }
}
