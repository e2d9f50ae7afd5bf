package import RTCShareICE
package import RTCShareSDP

extension PeerConnection {
    /// What happened.
    package enum Event: Sendable {
        /// Every STUN and TURN server has answered or was given up.
        case gatheringComplete
        /// A STUN or TURN server gave nothing, or gives nothing any longer.
        case serverFailed(ServerFailure)
        /// The connection has another state. It is closed when the peer says goodbye, not when this side does; why it
        /// failed, ``PeerConnection/failure`` says.
        case stateChanged(ConnectionState)
        /// Of what left nothing was heard for half a second more than a round trip; or, if false, something was again. It says
        /// that nothing is known of the path just now: long before ``ConnectionState/disconnected``, and of peers that go on answering too,
        /// where all rests after a packet that was lost.
        case feedbackStopped(Bool)
        /// There is nothing to send on: the peer's consent has expired, or the socket in use is gone. An offer after
        /// ``PeerConnection/restartICE()``, and its answer, can find another way. Told once until there is one.
        case restartNeeded
        /// A candidate that the newest description of this side lacks, for the peer, with the `a=mid` of its section and the
        /// user name fragment that it belongs to. Only where both sides trickle.
        case localCandidate(CandidateAttribute, mid: String, ufrag: String)
        /// No further ``localCandidate(_:mid:ufrag:)`` will come, unless an address is added.
        case localCandidatesEnded
        /// A description was taken: ``PeerConnection/remoteMedia`` may have more entries, or other ones.
        case remoteMediaChanged
        /// The peer needs a key frame of the media with this index.
        case keyFrameRequested(media: Int)
        /// The peer reported what share of a sound's packets it lost since it reported before, 0...1.
        case lossReported(fraction: Double, media: Int)
        /// The encoder of a media is to go by another rate, or is to drop frames, or need not any more: told at once where
        /// the rate fell by more than a hundredth or rose by more than a twentieth, and where the queue fills or empties;
        /// of smaller rises, and where the delay or the loss has become another, at most once a second.
        case targetBitrateChanged(BitrateTarget, media: Int)
        /// Media began to come, or ceased to; the index is that of ``PeerConnection/remoteMedia``.
        case activityChanged(ReceiverActivity, receiver: Int)
    }

    /// What the peer sent; the index is that of ``PeerConnection/remoteMedia``.
    package enum Received: Sendable {
        /// A whole frame, in the order of decoding.
        case frame(AssembledFrame, receiver: Int)
        /// A packet of sound, in the order of arrival.
        case packet(ReceivedAudioPacket, receiver: Int)
    }

    /// Why a connection ended.
    package enum Failure: Error, Sendable, Hashable {
        /// No pair of addresses worked in time.
        case unreachable
        /// A path there was, and the peer has not agreed to being sent to for too long (RFC 7675).
        case consentExpired
        /// DTLS failed, or SRTP could not be set up after it.
        case insecure(reason: String)
    }
}
