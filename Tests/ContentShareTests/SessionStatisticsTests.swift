import RTCShareCapture
import RTCShareContentShare
import RTCSharePeerConnection
import TestSupport
import Testing

/// The statistics that a session adds to the report of its peer: those of sockets, encoders, decoders and jitter
/// buffers.
@Suite(.timeLimit(.minutes(1)))
struct SessionStatisticsTests {
    @Test("The reports of a session that shares and of one that views have these ids, types and member names")
    func names() async throws {
        let pair = try await Pair([.content, .contentAudio])
        let (screen, music) = (try pattern(320, 180), try ToneSource(frequency: 440))
        try music.start()
        try await pair.alice.contentShare.start(source: screen, audio: music)
        for (session, expected) in [(pair.alice, Self.sharing), (pair.bob, Self.viewing)] {
            var outlines: [String] = []
            for _ in 0..<100 where outlines != expected {
                try await Task.sleep(for: .milliseconds(50))
                outlines = await session.stats().objects.map(\.outline).sorted().filter { outline in
                    expected.contains { outline.hasPrefix($0.prefix(4)) }
                }
            }
            #expect(outlines == expected)
        }
        await pair.end()
        screen.stop()
        music.stop()
    }

    private static let sharing = """
        MS0 media-source frames# framesPerSecond# height# kind" trackIdentifier" width#
        OT0 outbound-rtp active? bytesSent# codecId" driftsDetected# encoderImplementation" fecBytesSent# \
        fecPacketsSent# firCount# frameHeight# frameWidth# framesDropped# framesEncoded# framesPerSecond# framesSent# \
        headerBytesSent# hugeFramesSent# keyFramesEncoded# keyFramesSent# kind" mediaSourceId" mid" nackCount# \
        packetsSent# partialUpdatesEncoded# pliCount# qpSum# qualityLimitationDurations{} qualityLimitationReason" \
        qualityLimitationResolutionChanges# remoteId" retransmittedBytesSent# retransmittedPacketsSent# rtxSsrc# ssrc# \
        targetBitrate. totalEncodeTime. totalPacketSendDelay. transportId"
        T0 transport bitrateLimitation" bytesReceived# bytesSent# dtlsCipher" dtlsRole" dtlsState" \
        framesDroppedBeforeConnection# iceLocalUsernameFragment" iceState" packetSendQueueDuration. packetsDiscarded# \
        packetsDroppedByStreams# packetsReceived# packetsRefused# packetsRefusedBySystem# packetsSent# packetsUnknown# \
        packetsUnsent# probePacketsSent# probesAbandoned# selectedCandidatePairChanges# selectedCandidatePairId" \
        srtpCipher" tlsVersion"
        """.split(separator: "\n").map { String($0) }

    private static let viewing = """
        IT0 inbound-rtp bytesReceived# codecId" decoderImplementation" fecBytesReceived# fecPacketsReceived# firCount# \
        frameHeight# frameWidth# framesAssembledFromMultiplePackets# framesDecoded# framesDropped# framesReceived# \
        freezeCount# headerBytesReceived# jitter. keyFramesDecoded# kind" lastPacketReceivedTimestamp. mid" nackCount# \
        packetsDiscarded# packetsLost# packetsReceived# pauseCount# pliCount# qpSum# remoteId" \
        retransmittedBytesReceived# retransmittedPacketsReceived# ssrc# totalAssemblyTime. totalDecodeTime. \
        totalFreezesDuration. totalInterFrameDelay. totalPausesDuration. totalSquaredInterFrameDelay. trackIdentifier" \
        transportId"
        IT1 inbound-rtp audioLevel. bytesReceived# codecId" concealedSamples# concealmentEvents# fecPacketsReceived# \
        headerBytesReceived# jitter. jitterBufferDelay. jitterBufferEmittedCount# kind" lastPacketReceivedTimestamp. \
        mid" packetsDiscarded# packetsLost# packetsReceived# remoteId" silentConcealedSamples# ssrc# \
        totalSamplesReceived# trackIdentifier" transportId"
        """.split(separator: "\n").map { String($0) }
}
