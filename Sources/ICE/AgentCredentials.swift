internal import RTCShareWireFormat

/// Our credentials and the peer's: those of the newest generation, those that we have offered for the next, and those of the
/// one that carries media until the newest has a pair.
struct AgentCredentials: Sendable {
    private(set) var local: Credentials
    /// nil before the peer has said them.
    private(set) var remote: Credentials?
    /// Those of a restart that we have offered.
    private(set) var offered: Credentials?
    private var retired: Retired?

    /// The credentials of a generation that a restart has ended.
    private struct Retired: Sendable {
        let generation: Int
        let local: Credentials
        let remote: Credentials
        /// Until when the peer's requests under them are answered; nil while the generation's pair is selected.
        var expires: Instant?
    }

    /// Whose credentials a request bears.
    enum Addressee: Sendable {
        case current
        case offered
        case retired
    }

    /// The fragments of all of ours.
    var localFragments: [String] {
        [local, offered, retired?.local].compactMap { $0?.usernameFragment }
    }

    init(local: Credentials) {
        self.local = local
    }

    mutating func setRemote(_ credentials: Credentials) {
        remote = credentials
    }

    /// Takes the credentials that our description offers for a restart, or nil for none; whether those are others than
    /// before.
    mutating func offer(_ credentials: Credentials?) -> Bool {
        defer { offered = credentials }
        return offered != credentials
    }

    /// Begins the generation after `generation`, without the peer's credentials yet. Those of the generation that the
    /// selected pair is of are kept for it; where no pair is selected, none are.
    mutating func restart(_ credentials: Credentials, after generation: Int, selected: Int?) {
        if selected == generation, let remote {
            retired = Retired(generation: generation, local: local, remote: remote)
        } else if selected == nil {
            retired = nil
        }
        local = credentials
        (remote, offered) = (nil, nil)
    }

    /// The pair of the generation before is no longer used: requests under its credentials are answered for as long as
    /// `limit`, since that was first said.
    mutating func expireRetired(after limit: Duration, now: Instant) {
        let former = retired?.expires ?? now.advanced(by: limit)
        if former <= now { retired = nil } else { retired?.expires = former }
    }

    /// Our own and the peer's credentials of a generation; `newest` is the newest one.
    func of(generation: Int, newest: Int) -> (local: Credentials, remote: Credentials)? {
        if generation == newest { return remote.map { (local, $0) } }
        guard let retired, retired.generation == generation else { return nil }
        return (retired.local, retired.remote)
    }

    /// Which credentials a request's user name is of; nil for a stranger's, one that answered the same offer included.
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
