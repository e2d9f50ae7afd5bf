package import RTCShareICE
package import RTCShareSDP

extension PeerConnection {
    /// The user name fragment of the newest description of this side.
    package var localUsernameFragment: String { (ice.offered ?? ice.local).usernameFragment }

    /// An event for the owner of a connection.
    package enum Event: Sendable {
        /// Every STUN and TURN server has answered or timed out.
        case gatheringComplete
        /// A STUN or TURN server failed.
        case serverFailed(ServerFailure)
        /// The state of the connection has changed. It becomes closed when the peer closes the connection, not when
        /// this side does. ``PeerConnection/failure`` is the reason of a failure.
        case stateChanged(ConnectionState)
        /// Feedback for sent packets has been missing for half a second more than a round trip; or, if false, it has
        /// arrived again. The state of the path is unknown then: long before ``ConnectionState/disconnected``, and also
        /// with peers that still answer checks, after a packet before a pause was lost.
        case feedbackStopped(Bool)
        /// There is no pair left to send on: the peer's consent has expired, or the socket is closed. An offer after
        /// ``PeerConnection/restartICE()``, with its answer, can find another route. The event occurs once per outage.
        case restartNeeded
        /// A candidate for the peer that the latest description of this side lacks, with the `a=mid` of its section and
        /// its user name fragment. It occurs only if both sides trickle.
        case localCandidate(CandidateAttribute, mid: String, ufrag: String)
        /// No further ``localCandidate(_:mid:ufrag:)`` follows, unless an address is added.
        case localCandidatesEnded
        /// A description was applied: ``PeerConnection/remoteMedia`` may have changed.
        case remoteMediaChanged
        /// The peer needs a key frame of the media with this index.
        case keyFrameRequested(media: Int)
        /// The peer reported the fraction of an audio's packets that it lost since its previous report, 0...1.
        case lossReported(fraction: Double, media: Int)
        /// The target of a media's encoder has changed, or the encoder must start or stop dropping frames. The event
        /// occurs immediately if the rate fell by more than a hundredth or rose by more than a twentieth, and if the
        /// queue fills or empties. It occurs at most once per second for smaller increases, and for changes of the
        /// delay or the loss.
        case targetBitrateChanged(BitrateTarget, media: Int)
        /// Media started or stopped arriving. The index is that of ``PeerConnection/remoteMedia``.
        case activityChanged(ReceiverActivity, receiver: Int)
    }

    /// Media from the peer. The index is that of ``PeerConnection/remoteMedia``.
    package enum Received: Sendable {
        /// A whole frame, in decoding order.
        case frame(AssembledFrame, receiver: Int)
        /// An audio packet, in order of arrival.
        case packet(ReceivedAudioPacket, receiver: Int)
    }

    /// The reason why a connection failed.
    package enum Failure: Error, Sendable, Hashable {
        /// No candidate pair worked in time.
        case unreachable
        /// There was a route, but the peer's consent to receive has expired (RFC 7675).
        case consentExpired
        /// DTLS failed, or SRTP could not be set up after it.
        case insecure(reason: String)
    }
}
