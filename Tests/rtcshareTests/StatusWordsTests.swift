import RTCSharePeerConnection
import Testing

@testable import rtcshare

/// The text that `rtcshare status` prints for people.
@Suite struct StatusWordsTests {
    private static func share(
        _ state: ControlledShare.State = .waiting, sounds: [String] = [], width: Int? = nil, isLocked: Bool? = nil,
        needsApproval: Bool? = nil, viewers: [ControlledShare.Viewer] = []
    ) -> ControlledShare {
        ControlledShare(
            name: "talk", pid: 17, attendee: "alice", state: state, source: "test", interruption: nil,
            sounds: sounds.map { .init(spec: $0) }, width: nil, height: nil, framesPerSecond: 0, bitrate: 0,
            maxBitrate: 2500, maxFramerate: 30, maxWidth: width, maxHeight: width, hint: .text, isSlateShown: false,
            isAudioMuted: false, isMicrophoneMuted: false, destination: "main", subgroups: [], isLocked: isLocked,
            needsApproval: needsApproval, viewers: viewers, uptime: 3661)
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
        var measured = share
        measured.bitrate = 300
        measured.viewers[0].bitrate = 300
        #expect(measured.differs(from: share, inMeasurements: true))
        #expect(!measured.differs(from: share, inMeasurements: false))
        #expect(Self.share(.paused, viewers: [viewer]).differs(from: share, inMeasurements: false))
        #expect(Self.share(.sharing).differs(from: share, inMeasurements: false))
    }
}
