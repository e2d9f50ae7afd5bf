package import RTCSharePeerConnection

extension ConnectionError {
    /// Creates the error for a connection's failure, with the facts about its candidate pairs.
    package init(_ failure: PeerConnection.Failure, on connection: Connection) async {
        switch failure {
        case .unreachable: self = .unreachable(await connection.connectivityFacts)
        case .consentExpired: self = .lost
        case .insecure(let reason): self = .insecure(reason: reason)
        }
    }
}
