package import RTCSharePeerConnection

extension ConnectionError {
    /// Why a connection ended, with what its candidate pairs show.
    package init(_ failure: PeerConnection.Failure, on connection: Connection) async {
        switch failure {
        case .unreachable: self = .unreachable(await connection.connectivityFacts)
        case .consentExpired: self = .lost
        case .insecure(let reason): self = .insecure(reason: reason)
        }
    }
}
