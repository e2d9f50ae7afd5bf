import Foundation
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSignaling
import RTCShareStreams
import Testing

@testable import rtcshare

/// The text that `rtcshare status` prints for people.
@Suite struct StatusWordsTests {
    private static func share(
        _ state: ControlledShare.State = .waiting, sounds: [String] = [], width: Int? = nil, isLocked: Bool? = nil,
        needsApproval: Bool? = nil, codec: ControlledShare.Codec? = nil, viewers: [ControlledShare.Viewer] = []
    ) -> ControlledShare {
        ControlledShare(
            name: "talk", pid: 17, attendee: "alice", state: state, source: "test", interruption: nil,
            sounds: sounds.map { .init(spec: $0) }, width: nil, height: nil, framesPerSecond: 0, bitrate: 0,
            maxBitrate: 2500, maxFramerate: 30, codec: codec, maxWidth: width, maxHeight: width, hint: .text,
            isSlateShown: false, isAudioMuted: false, isMicrophoneMuted: false, destination: "main", subgroups: [],
            isLocked: isLocked, needsApproval: needsApproval, viewers: viewers, uptime: 3661)
    }

    private static let waiting = ControlledShare.Viewer(id: 1, state: .connected, isWaiting: true, groups: [])

    @Test(
        "A status has a line for each property",
        arguments: [
            (
                share(),
                [
                    "name:         talk", "presenter:    alice", "pid:          17",
                    "state:        waiting for viewers", "source:       test", "audio:        none",
                    "quality:      at most 2500 kbit/s per viewer, 30 frames per second, hint text",
                    "muted:        none", "running for:  1:01:01",
                ]
            ),
            (share(sounds: ["system", "tone"]), ["audio:        system, tone"]),
            (
                share(width: 64),
                ["quality:      at most 2500 kbit/s per viewer, 30 frames per second, 64x64 pixels, hint text"]
            ),
            (share(isLocked: false), ["link:         open"]),
            (share(isLocked: false, needsApproval: true), ["link:         open, viewers need approval"]),
            (share(isLocked: true, needsApproval: true), ["link:         locked, new viewers can't join"]),
            (
                share(viewers: [waiting]),
                ["state:        waiting for you to admit a viewer", "viewer 1:     waiting to be admitted"]
            ),
            (
                share(.connecting, viewers: [.init(id: 1, state: .new, isWaiting: false, groups: [])]),
                ["state:        waiting for the answers of invited viewers"]
            ),
            (
                share(.sharing, viewers: [.init(id: 1, state: .disconnected, isWaiting: false, groups: ["main"])]),
                ["state:        sharing", "viewer 1:     disconnected, in main"]
            ),
            (share(.paused), ["state:        paused, viewers see the last frame"]),
        ])
    func lines(share: ControlledShare, lines: [String]) {
        for line in lines { #expect(share.lines.contains(line), "\(line) in \(share.lines)") }
    }

    @Test("A status has a line for each layer of a server, with the reason of a pause")
    func layers() throws {
        let sent = ControlledShare.Layer(rid: "f", width: 1280, height: 720, framesPerSecond: 29.8, bitrate: 2400.4)
        let paused = SendingSummary.PauseReason.allCases.map { ControlledShare.Layer(rid: "h", pauseReason: $0) }
        var share = Self.share(.sharing)
        share.servers = [
            .init(
                id: 1, kind: "janus", name: "room 5", state: .published, since: Date(), count: 1,
                layers: [sent] + paused),
            .init(id: 2, kind: "whip", name: "a.example", state: .published, since: Date(), count: 1),
        ]
        let place = try #require(share.lines.firstIndex { $0.hasPrefix("server 1:") })
        #expect(
            share.lines[(place + 1)...].prefix(6) == [
                "layer 1:      1280x720, 30 fps, 2400 kbit/s", "layer 2:      paused (not enough bitrate)",
                "layer 3:      paused (the server requested it)",
                "layer 4:      paused (the server does not accept it)",
                "layer 5:      paused (its encoder failed)", "layer 6:      paused (nothing to send)",
            ])
        #expect(share.lines[place + 7].hasPrefix("server 2:"))
        var changed = share
        changed.servers[0].layers?[0].bitrate = 1
        #expect(!changed.differs(from: share, inMeasurements: false))
        changed.servers[0].layers?[0].pauseReason = .bitrate
        #expect(changed.differs(from: share, inMeasurements: false))
    }

    @Test(
        "A status says what limits the video",
        arguments: [
            (nil, "0 fps, 0 kbit/s"), (.cpu, "0 fps, 0 kbit/s, limited by CPU"),
            (.bandwidth, "0 fps, 0 kbit/s, limited by the bitrate"), (.other, "0 fps, 0 kbit/s"),
        ] as [(QualityLimitationReason?, String)])
    func limitation(reason: QualityLimitationReason?, words: String) {
        var share = Self.share(.sharing)
        share.qualityLimitationReason = reason
        #expect(share.lines.contains("sent:         \(words)"))
    }

    @Test(
        "A status names the codec and the reason for it",
        arguments: [
            (.init(name: "AV1", reason: .chosen), "AV1, which you chose"),
            (.init(name: "VP8", reason: .only), "VP8, the only one on this machine"),
            (.init(name: "VP8", reason: .recording), "VP8, which a recorded share keeps"),
            (
                .init(name: "VP8", reason: .processor, alternative: "AV1", retryIn: 25),
                "VP8, since the processor is too slow for AV1 (retry in 25 s)"
            ),
            (
                .init(name: "VP8", reason: .size, alternative: "AV1"), "VP8, since the video is too large for AV1"
            ),
            (.init(name: "AV1", reason: .sharpest), "AV1, which is sharper at this size and bitrate"),
            (.init(name: "VP8", reason: .quickest), "VP8, which is faster at this size and bitrate"),
        ] as [(ControlledShare.Codec, String)])
    func codec(codec: ControlledShare.Codec, words: String) {
        #expect(Self.share(codec: codec).lines.contains("codec:        \(words)"))
    }

    @Test("A status names the codec of each viewer, since not every viewer accepts the preferred one")
    func codecOfViewers() {
        let viewers = ["AV1", "VP8"].enumerated().map { index, codec in
            ControlledShare.Viewer(
                id: index + 1, state: .connected, isWaiting: false, groups: ["main"], codec: codec, bitrate: 900)
        }
        let codec = ControlledShare.Codec(name: "AV1", reason: .sharpest)
        let (lines, ofFirst) = (
            Self.share(.sharing, codec: codec, viewers: viewers).lines,
            Self.share(.sharing, codec: codec, viewers: [viewers[0]]).lines
        )
        #expect(lines.contains("viewer 1:     connected, in main, AV1, 900 kbit/s"))
        #expect(lines.contains("viewer 2:     connected, in main, VP8, 900 kbit/s"))
        #expect(lines.contains { $0.hasPrefix("codec:        AV1 for viewers who accept it, which is sharper") })
        #expect(ofFirst.contains { $0.hasPrefix("codec:        AV1, which is sharper") })
    }

    @Test("A watched status differs in properties, and for programs in measurements, but not in clocks")
    func differences() {
        let viewer = ControlledShare.Viewer(id: 1, state: .connected, isWaiting: false, groups: ["main"])
        let share = Self.share(.sharing, viewers: [viewer])
        var later = share
        later.uptime += 1
        later.recording = .init(file: "film.webm", seconds: 1)
        var recorded = share
        recorded.recording = .init(file: "film.webm", seconds: 2)
        #expect(!later.differs(from: recorded, inMeasurements: true))
        later.codec = .init(name: "VP8", reason: .processor, alternative: "AV1", retryIn: 25)
        recorded.codec = .init(name: "VP8", reason: .processor, alternative: "AV1", retryIn: 24)
        #expect(!later.differs(from: recorded, inMeasurements: true))
        var measured = share
        measured.bitrate = 300
        measured.viewers[0].bitrate = 300
        #expect(measured.differs(from: share, inMeasurements: true))
        #expect(!measured.differs(from: share, inMeasurements: false))
        #expect(Self.share(.paused, viewers: [viewer]).differs(from: share, inMeasurements: false))
        #expect(Self.share(.sharing).differs(from: share, inMeasurements: false))
    }
}
