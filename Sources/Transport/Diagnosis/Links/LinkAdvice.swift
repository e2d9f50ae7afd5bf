/// Advice for a viewer at a link, in the order of usefulness: requests to the administrator of the viewer's network, and
/// to the presenter.
enum LinkAdvice {
    static func lines(for diagnosis: LinkDiagnosis) -> [NetworkAdvice] {
        guard !diagnosis.routes.isEmpty else { return page(diagnosis.page) }
        let udp = [RouteKind.direct, .reflexive].compactMap(diagnosis.route)
        if udp.contains(where: \.works) { return ["UDP gets through to the share. This network needs no change."] }
        let (tcp, relay) = (diagnosis.route(.tcp), diagnosis.route(.relay))
        let datagrams = datagrams(udp)
        if tcp?.works == true {
            return [
                "The share works over TCP, where each lost packet delays the video. For a shorter delay, get UDP "
                    + "through:"
            ] + datagrams
        }
        let stream = stream(tcp)
        if relay?.works == true {
            return ["The share works through a TURN server. For a shorter delay, get one of these through:"] + datagrams
                + stream
        }
        return ["Nothing gets through. One of these is enough, the best first:"] + datagrams + stream
            + relays(relay)
    }

    // MARK: Routes

    private static func datagrams(_ routes: [LinkDiagnosis.Route]) -> [NetworkAdvice] {
        let targets = routes.filter { $0.isOffered && !$0.isPrivate }.flatMap(\.targets)
        guard targets.isEmpty else {
            return [
                "Ask the administrator to allow outgoing UDP to \(list(targets)), and its answers. The share's network must "
                    + "let it in, too."
            ]
        }
        let inside = routes.flatMap(\.targets)
        guard !inside.isEmpty else { return [] }
        return [
            "The share's addresses for UDP, \(list(inside)), may be valid only in its own network. There, a firewall must "
                + "let UDP through. From outside, ask the presenter to use \(.reflexive)."
        ]
    }

    private static func stream(_ route: LinkDiagnosis.Route?) -> [NetworkAdvice] {
        guard let route else { return [] }
        guard route.isOffered else {
            return ["Ask the presenter to accept media over TCP: \(.acceptsTCP)."]
        }
        return ["Ask the administrator to allow outgoing TCP to \(list(route.targets)), with any content."]
    }

    private static func relays(_ route: LinkDiagnosis.Route?) -> [NetworkAdvice] {
        guard let route else { return [] }
        if route.isOffered {
            return [
                "Ask the administrator to allow the TURN server \(list(route.targets)). Its password may also be wrong: see "
                    + "above."
            ]
        }
        return [
            "Ask the presenter for a TURN server over TLS at the port of web pages: \(.relayOverTLS)."
        ]
    }

    private static func list(_ targets: [String]) -> String {
        let shown = targets.prefix(3).joined(separator: ", ")
        return targets.count > 3 ? shown + " and \(targets.count - 3) more" : shown
    }

    // MARK: The page

    private static func page(_ page: LinkDiagnosis.Page) -> [NetworkAdvice] {
        let port = String(page.port)
        let place = "\(page.host) port \(port)"
        switch page.obstacle {
        case .nameUnknown:
            return [
                "Check the name \(page.host) in the link. If it is right, ask the administrator why this network's DNS does "
                    + "not know it, or ask the presenter for a link with an IP address."
            ]
        case .refused:
            return [
                "Ask the presenter whether the share still runs, with this port. If \(page.host) is a router, it "
                    + "must forward TCP port \(port) to the share.",
                "A firewall of this network may also reject the connection: ask the administrator to allow outgoing TCP "
                    + "to \(place).",
            ]
        case .silent:
            return [
                "Ask the administrator to allow outgoing TCP to \(place).",
                "Ask the presenter whether the machine is on, and whether a firewall there lets TCP port "
                    + "\(port) in. A share with a certificate at port 443 gets through most firewalls.",
            ]
        case .noRoute:
            return [
                "Check that the presenter's machine is on. If \(page.host) belongs to another network, connect this machine "
                    + "to that network, for example by VPN, or ask the presenter for a link with a public address."
            ]
        case nil: return page.remedy.map { ["\(sentence($0))"] } ?? []
        }
    }

    /// Returns a remedy as a sentence.
    private static func sentence(_ remedy: String) -> String {
        remedy.prefix(1).uppercased() + remedy.dropFirst() + "."
    }
}
