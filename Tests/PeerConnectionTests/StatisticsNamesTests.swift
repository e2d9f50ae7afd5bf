import RTCShareICE
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Readers of statistics files depend on what these tests hold.
@Suite struct StatisticsNamesTests {
    @Test("The reports of a call with audio and video have these IDs, types and member names")
    func call() throws {
        let call = try SoundCallTests.makeCall(seed: 507, media: Array(SoundCallTests.four.prefix(2)))
        call.run(for: .seconds(4))
        #expect(call.sender.report(now: call.now).objects.map(\.outline).sorted() == Self.sender)
        #expect(call.viewer.report(now: call.now).objects.map(\.outline).sorted() == Self.viewer)
    }

    @Test("A relayed candidate's report has its server's URL, the protocol used and the related address")
    func relayedCandidate() throws {
        var candidate = Candidate(
            foundation: "1", priority: 1, address: try #require(TransportAddress("192.0.2.1", port: 5000)),
            type: .relayed, relatedAddress: TransportAddress("198.51.100.1", port: 6000))
        candidate.relayProtocol = .tls
        candidate.url = "turns:192.0.2.1:443"
        var report = StatisticsReport(timestamp: 0)
        report.localCandidates.insert(CandidateStats(candidate, isLocal: true))
        #expect(
            report.objects.map(\.outline) == [
                """
                L192.0.2.1:5000 local-candidate address" candidateType" foundation" port# priority# protocol" \
                relatedAddress" relatedPort# relayProtocol" transportId" url"
                """
            ])
    }

    @Test("Frames that the network and the screen dropped are counted together")
    func droppedFrames() {
        var video = InboundVideoStatistics()
        video.framesDropped = 3
        var report = StatisticsReport(timestamp: 0)
        report.inboundRTP[0] = InboundRTPStreamStats(
            id: "IT0", kind: .video, mid: nil, ssrc: 1, codecId: nil, remoteId: nil, trackIdentifier: nil,
            lastPacketReceivedTimestamp: nil, video: video, audio: nil,
            screen: VideoScreenStats(framesRendered: 8, framesDropped: 4, totalRenderDelay: .zero))
        #expect(report.objects.map { $0.integer("framesDropped") } == [7])
    }

    private static let sender = """
        C109 codec channels# clockRate# mimeType" payloadType# sdpFmtpLine" transportId"
        C96 codec clockRate# mimeType" payloadType# transportId"
        CP0 candidate-pair availableOutgoingBitrate. consentRequestsSent# currentRoundTripTime. localCandidateId" \
        nominated? priority# remoteCandidateId" requestsReceived# requestsSent# responsesReceived# responsesSent# \
        state" totalRoundTripTime. transportId"
        L192.0.2.1:5000 local-candidate address" candidateType" foundation" port# priority# protocol" transportId"
        MS0 media-source height# kind" trackIdentifier" width#
        MS1 media-source audioLevel. kind" totalAudioEnergy. totalSamplesDuration. trackIdentifier"
        OT0 outbound-rtp active? bytesSent# codecId" fecBytesSent# fecPacketsSent# firCount# frameHeight# frameWidth# \
        framesSent# headerBytesSent# keyFramesSent# kind" mediaSourceId" mid" nackCount# packetsSent# pliCount# \
        remoteId" retransmittedBytesSent# retransmittedPacketsSent# rtxSsrc# ssrc# targetBitrate. \
        totalPacketSendDelay. transportId"
        OT1 outbound-rtp active? bytesSent# codecId" headerBytesSent# kind" mediaSourceId" mid" packetsSent# remoteId" \
        ssrc# targetBitrate. totalPacketSendDelay. transportId"
        R198.51.100.1:6000 remote-candidate address" candidateType" foundation" port# priority# protocol" transportId"
        RI0 remote-inbound-rtp codecId" fractionLost. jitter. kind" localId" packetsLost# roundTripTime. \
        roundTripTimeMeasurements# ssrc# totalRoundTripTime. transportId"
        RI1 remote-inbound-rtp codecId" fractionLost. jitter. kind" localId" packetsLost# roundTripTime. \
        roundTripTimeMeasurements# ssrc# totalRoundTripTime. transportId"
        T0 transport bitrateLimitation" bytesReceived# bytesSent# dtlsCipher" dtlsRole" dtlsState" \
        framesDroppedBeforeConnection# iceLocalUsernameFragment" iceState" packetSendQueueDuration. packetsDiscarded# \
        packetsReceived# packetsRefused# packetsSent# packetsUnknown# packetsUnsent# probePacketsSent# \
        probesAbandoned# selectedCandidatePairChanges# selectedCandidatePairId" srtpCipher" tlsVersion"
        """.split(separator: "\n").map { String($0) }

    private static let viewer = """
        C109 codec channels# clockRate# mimeType" payloadType# sdpFmtpLine" transportId"
        C96 codec clockRate# mimeType" payloadType# transportId"
        CP0 candidate-pair availableOutgoingBitrate. consentRequestsSent# currentRoundTripTime. localCandidateId" \
        nominated? priority# remoteCandidateId" requestsReceived# requestsSent# responsesReceived# responsesSent# \
        state" totalRoundTripTime. transportId"
        IT0 inbound-rtp bytesReceived# codecId" fecBytesReceived# fecPacketsReceived# firCount# \
        framesAssembledFromMultiplePackets# framesDropped# framesReceived# headerBytesReceived# jitter. kind" \
        lastPacketReceivedTimestamp. mid" nackCount# packetsDiscarded# packetsLost# packetsReceived# pliCount# \
        remoteId" retransmittedBytesReceived# retransmittedPacketsReceived# ssrc# totalAssemblyTime. trackIdentifier" \
        transportId"
        IT1 inbound-rtp audioLevel. bytesReceived# codecId" headerBytesReceived# jitter. kind" \
        lastPacketReceivedTimestamp. mid" packetsLost# packetsReceived# remoteId" ssrc# trackIdentifier" transportId"
        L198.51.100.1:6000 local-candidate address" candidateType" foundation" port# priority# protocol" transportId"
        R192.0.2.1:5000 remote-candidate address" candidateType" foundation" port# priority# protocol" transportId"
        RO0 remote-outbound-rtp bytesSent# codecId" kind" lastReportReceivedTimestamp. localId" packetsSent# \
        remoteTimestamp. reportsSent# ssrc# transportId"
        RO1 remote-outbound-rtp bytesSent# codecId" kind" lastReportReceivedTimestamp. localId" packetsSent# \
        remoteTimestamp. reportsSent# ssrc# transportId"
        T0 transport bitrateLimitation" bytesReceived# bytesSent# dtlsCipher" dtlsRole" dtlsState" \
        framesDroppedBeforeConnection# iceLocalUsernameFragment" iceState" packetSendQueueDuration. packetsDiscarded# \
        packetsReceived# packetsRefused# packetsSent# packetsUnknown# packetsUnsent# probePacketsSent# \
        probesAbandoned# selectedCandidatePairChanges# selectedCandidatePairId" srtpCipher" tlsVersion"
        """.split(separator: "\n").map { String($0) }
}
