internal import RTCShareWireFormat

/// Our credentials and the peer's: those of the newest generation, those that we have offered for the next one, and
/// those of the generation that carries media until the newest one has a pair.
struct AgentCredentials: Sendable {
    private(set) var local: Credentials
    /// The peer's credentials; nil before its description.
    private(set) var remote: Credentials?
    /// Our credentials in the offer of a restart.
    private(set) var offered: Credentials?
    private var retired: Retired?

    /// The credentials of a generation that a restart has ended.
    private struct Retired: Sendable {
        let generation: Int
        let local: Credentials
        let remote: Credentials
        /// The time until which the peer's requests with them are answered; nil while the generation's pair is
        /// selected.
        var expires: Instant?
    }

    /// The generation whose credentials a request has.
    enum Addressee: Sendable {
        case current
        case offered
        case retired
    }

    /// The user name fragments of all our credentials.
    var localFragments: [String] {
        [local, offered, retired?.local].compactMap { $0?.usernameFragment }
    }

    init(local: Credentials) {
        self.local = local
    }

    mutating func setRemote(_ credentials: Credentials) {
        remote = credentials
    }

    /// Sets the credentials that our description offers for a restart, or nil for none. Returns whether they changed.
    mutating func offer(_ credentials: Credentials?) -> Bool {
        defer { offered = credentials }
        return offered != credentials
    }

    /// Starts the generation after `generation`, without the peer's credentials yet. The credentials of the selected
    /// pair's generation are kept for it. If no pair is selected, none are kept.
    mutating func restart(_ credentials: Credentials, after generation: Int, selected: Int?) {
        if selected == generation, let remote {
            retired = Retired(generation: generation, local: local, remote: remote)
        } else if selected == nil {
            retired = nil
        }
        local = credentials
        (remote, offered) = (nil, nil)
    }

    /// Limits the use of the former generation's credentials, whose pair is no longer selected: requests with them are
    /// answered for `limit` after the first call.
    mutating func expireRetired(after limit: Duration, now: Instant) {
        let former = retired?.expires ?? now.advanced(by: limit)
        if former <= now { retired = nil } else { retired?.expires = former }
    }

    /// Returns our credentials and the peer's of a generation. `newest` is the number of the newest one.
    func of(generation: Int, newest: Int) -> (local: Credentials, remote: Credentials)? {
        if generation == newest { return remote.map { (local, $0) } }
        guard let retired, retired.generation == generation else { return nil }
        return (retired.local, retired.remote)
    }

    /// Returns our credentials that a request's user name refers to; nil for a stranger, including one that answered
    /// the same offer.
    func addressee(of username: String, now: Instant) -> (Addressee, Credentials, remoteFragment: String)? {
        let fragments = username.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let own = fragments.first else { return nil }
        let peer = fragments.count == 2 ? fragments[1] : ""
        if own == local.usernameFragment, remote.map({ $0.usernameFragment == peer }) ?? true {
            return (.current, local, peer)
        }
        if let offered, own == offered.usernameFragment { return (.offered, offered, peer) }
        if let retired, own == retired.local.usernameFragment, peer == retired.remote.usernameFragment,
            retired.expires.map({ now < $0 }) ?? true
        {
            return (.retired, retired.local, peer)
        }
        return nil
    }
}
